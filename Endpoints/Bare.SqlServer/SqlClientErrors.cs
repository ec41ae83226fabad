using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>
/// The errors of Microsoft.Data.SqlClient, by the numbers and severities of
/// https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors.
/// </summary>
/// <param name="databases">The endpoint's databases.</param>
internal sealed class SqlClientErrors(params IReadOnlyList<string> databases) : DriverErrors
{
    // From here on the server, or the driver where the network broke, closes the connection.
    private const byte FatalSeverity = 20;

    // The driver's own number: CommandTimeout has passed.
    private const int CommandTimeout = -2;
    private const int LockTimeout = 1222;

    // A secondary after a failover, if it is one of the endpoint's. Another, which the message names, can be read-only for good.
    private const int ReadOnlyDatabase = 3906;

    // What the server or its service says about itself. Not among them, because a handler can bring them about, and would again: 1205 (deadlock), 1222 and
    // -2 (time-outs), 40549 to 40553 (a session that took too much). From FatalSeverity on the session is lost, which counts an attempt.
    private static readonly int[] StatesOfServer =
    [
        701, 802, 8645, // no memory
        1105, 9002, 40544, // no room for data or log, or the database's quota is used up
        1204, // no memory for locks
        6005, 17142, // shutting down, paused
        10928, 10929, 40197, 40501, 40613, 49918, 49919, 49920, // Azure: limits, busy, failover
        978, 983, // the replica accepts no connection
    ];

    /// <summary>A handler on a queue in SQL Server can write to PostgreSQL, too.</summary>
    /// <param name="databases">The endpoint's databases in SQL Server.</param>
    public static FailureKinds KindsFor(params IReadOnlyList<string> databases) => new(new SqlClientErrors(databases), new NpgsqlErrors());

    public override bool IsSessionLost(Exception failure) =>
        failure is SqlException refused && refused.Errors.Cast<SqlError>().Any(one => one.Class >= FatalSeverity);

    public override bool IsStateOfServer(Exception failure) =>
        failure is SqlException refused
        && refused.Errors.Cast<SqlError>().Any(one => StatesOfServer.Contains(one.Number) || (one.Number == ReadOnlyDatabase && IsOfEndpoint(one.Message)));

    public override bool IsTimeout(Exception failure) => failure is SqlException { Number: CommandTimeout or LockTimeout };

    private bool IsOfEndpoint(string message) => databases.Any(name => message.Contains($"\"{name}\"", StringComparison.OrdinalIgnoreCase));
}
