using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Connections of the second phase and of recovery, apart from those of the workers and handlers: a handler that waits for a row's lock can hold
/// the pool's last connection, and the lock's owner is a branch that waits for its second phase.
/// </summary>
internal sealed class BranchConnections : IAsyncDisposable
{
    /// <summary>PostgreSQL cuts a longer one off.</summary>
    private const int LongestApplicationName = 63;

    private const string Suffix = " (second phase)";

    /// <summary>One for the second phase in the background, one for recovery, one for the count of slots.</summary>
    private const int Size = 3;

    private BranchConnections(NpgsqlDataSource data) => Data = data;

    /// <summary>To ask for decisions, to end branches and to count slots.</summary>
    public NpgsqlDataSource Data { get; }

    /// <param name="data">How the handlers reach their database.</param>
    public static BranchConnections Create(NpgsqlConnectionStringBuilder data) => new(NpgsqlDataSource.Create(Of(data)));

    public ValueTask DisposeAsync() => Data.DisposeAsync();

    private static NpgsqlConnectionStringBuilder Of(NpgsqlConnectionStringBuilder workers) => new(workers.ConnectionString)
    {
        ApplicationName = NameOf(workers.ApplicationName),
        Enlist = false,
        MinPoolSize = 0,
        MaxPoolSize = Size,
        // No statement comes twice: a branch's name is in it.
        MaxAutoPrepare = 0,
    };

    private static string NameOf(string? workers)
    {
        var name = string.IsNullOrEmpty(workers) ? "kit" : workers;
        return $"{name[..Math.Min(name.Length, LongestApplicationName - Suffix.Length)]}{Suffix}";
    }
}
