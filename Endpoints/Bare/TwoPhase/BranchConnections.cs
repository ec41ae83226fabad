using Npgsql;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>
/// Connections of the second phase and of recovery, apart from those of the workers and handlers: a handler that waits for a row's lock can hold
/// the pool's last connection, and the lock's owner is a branch that waits for its second phase.
/// </summary>
internal sealed class BranchConnections : IAsyncDisposable
{
    /// <summary>PostgreSQL cuts a longer one off.</summary>
    private const int LongestApplicationName = 63;

    private const string Suffix = " (second phase)";

    private BranchConnections(NpgsqlDataSource queues, NpgsqlDataSource data)
    {
        Queues = queues;
        Data = data;
    }

    /// <summary>To ask for decisions: one connection at the most.</summary>
    public NpgsqlDataSource Queues { get; }

    /// <summary>To end branches and to count slots.</summary>
    public NpgsqlDataSource Data { get; }

    /// <param name="queue">How the workers reach the queue.</param>
    /// <param name="data">How the handlers reach their database.</param>
    /// <param name="endings">How many branches may be ended at the same time; one connection more serves recovery, and one the count of slots.</param>
    public static BranchConnections Create(NpgsqlConnectionStringBuilder queue, NpgsqlConnectionStringBuilder data, int endings) =>
        new(NpgsqlDataSource.Create(Of(queue, 1)), NpgsqlDataSource.Create(Of(data, endings + 2)));

    public async ValueTask DisposeAsync()
    {
        await Data.DisposeAsync();
        await Queues.DisposeAsync();
    }

    private static NpgsqlConnectionStringBuilder Of(NpgsqlConnectionStringBuilder workers, int size) => new(workers.ConnectionString)
    {
        ApplicationName = NameOf(workers.ApplicationName),
        Enlist = false,
        MinPoolSize = 0,
        MaxPoolSize = size,
        // No statement comes twice: a branch's name is in it.
        MaxAutoPrepare = 0,
    };

    private static string NameOf(string? workers)
    {
        var name = string.IsNullOrEmpty(workers) ? "kit" : workers;
        return $"{name[..Math.Min(name.Length, LongestApplicationName - Suffix.Length)]}{Suffix}";
    }
}
