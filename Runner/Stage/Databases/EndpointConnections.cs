using Kit.Endpoints.Cells;
using Npgsql;

namespace Kit.Runner.Stage.Databases;

/// <summary>The connection settings of every endpoint of a run, whatever its framework.</summary>
internal static class EndpointConnections
{
    public const int PoolSize = HandlerLimits.DefaultConnections;

    /// <summary>The application name of an endpoint's connections.</summary>
    public const string Name = "kit endpoint";

    /// <summary>Description of an endpoint's connections, for the reports.</summary>
    public const string Description = "statements prepared from their second use (Max Auto Prepare 20), No Reset On Close";

    /// <param name="resets">True if the driver resets a session that returns to the pool. Only a handler that leaves no settings behind can go without.</param>
    public static string For(string connection, bool resets = false) => new NpgsqlConnectionStringBuilder(connection)
    {
        ApplicationName = Name,
        MaxPoolSize = PoolSize,
        MaxAutoPrepare = 20,
        AutoPrepareMinUsages = 2,
        NoResetOnClose = !resets,
    }.ConnectionString;

    /// <summary>Connection string for the runner's own queries to the same database: no session stays open and is counted.</summary>
    public static string ForRunner(string connection) => new NpgsqlConnectionStringBuilder(connection)
    {
        ApplicationName = "kit runner",
        Pooling = false,
    }.ConnectionString;

    /// <summary>
    /// Connection string for queries that the runner makes many times a second, such as counts and sends: a new session for each would cost more than that.
    /// </summary>
    public static string ForManyUses(string connection) => new NpgsqlConnectionStringBuilder(ForRunner(connection))
    {
        Pooling = true,
        NoResetOnClose = true,
    }.ConnectionString;

    /// <summary>Connection string for questions about the newest rows of a table. They are prepared, and read an index.</summary>
    public static string ForNewestRows(string connection) => new NpgsqlConnectionStringBuilder(ForManyUses(connection))
    {
        MaxAutoPrepare = 2,
        AutoPrepareMinUsages = 1,
        // Without statistics on the new rows, the planner would expect a third of the table, and read all of it.
        Options = "-c enable_seqscan=off -c enable_bitmapscan=off",
    }.ConnectionString;
}
