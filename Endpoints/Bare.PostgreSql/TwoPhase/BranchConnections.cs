using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Connections for the second phase and for recovery, separate from those of workers and handlers. Otherwise a handler could hold the pool's last
/// connection while it waits for a row lock of a branch that waits for its second phase.
/// </summary>
internal sealed class BranchConnections : IAsyncDisposable
{
    /// <summary>PostgreSQL truncates longer ones.</summary>
    private const int LongestApplicationName = 63;

    private const string Suffix = " (second phase)";

    /// <summary>One for the second phase in the background, one for recovery, one for counting slots.</summary>
    private const int Size = 3;

    private readonly NpgsqlConnectionStringBuilder settings;

    private BranchConnections(NpgsqlConnectionStringBuilder settings, IDecisionLog decisions)
    {
        this.settings = settings;
        Data = new NpgsqlDataSourceBuilder(settings.ConnectionString)
            .UsePhysicalConnectionInitializer(
                _ => throw new NotSupportedException("Branches are ended asynchronously."), opened => decisions.RequireAsync(opened, CancellationToken.None))
            .Build();
    }

    /// <summary>For reading decisions, ending branches and counting slots.</summary>
    public NpgsqlDataSource Data { get; }

    /// <param name="data">How the handlers reach their database.</param>
    /// <param name="decisions">The record that each connection must belong to.</param>
    public static BranchConnections Create(NpgsqlConnectionStringBuilder data, IDecisionLog decisions) => new(Of(data), decisions);

    /// <summary>The same server and role in another database, for once.</summary>
    public NpgsqlDataSource In(string database) =>
        NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(settings.ConnectionString) { Database = database, Pooling = false });

    public ValueTask DisposeAsync() => Data.DisposeAsync();

    private static NpgsqlConnectionStringBuilder Of(NpgsqlConnectionStringBuilder workers) => new(workers.ConnectionString)
    {
        ApplicationName = NameOf(workers.ApplicationName),
        Enlist = false,
        MinPoolSize = 0,
        MaxPoolSize = Size,
        // No statement occurs twice, because each contains a branch's id.
        MaxAutoPrepare = 0,
    };

    private static string NameOf(string? workers)
    {
        var name = string.IsNullOrEmpty(workers) ? "kit" : workers;
        return $"{name[..Math.Min(name.Length, LongestApplicationName - Suffix.Length)]}{Suffix}";
    }
}
