using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>
/// The errors of Microsoft.Data.SqlClient, by the numbers and severities of
/// https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors.
/// </summary>
internal sealed class SqlClientErrors : DriverErrors
{
    // From here on the server, or the driver where the network broke, closes the connection.
    private const byte FatalSeverity = 20;

    // The driver's own number: CommandTimeout has passed.
    private const int CommandTimeout = -2;
    private const int LockTimeout = 1222;

    /// <summary>A handler on a queue in SQL Server can write to PostgreSQL, too.</summary>
    public static FailureKinds Kinds { get; } = new(new SqlClientErrors(), new NpgsqlErrors());

    public override bool IsSessionLost(Exception failure) =>
        failure is SqlException refused && refused.Errors.Cast<SqlError>().Any(one => one.Class >= FatalSeverity);

    public override bool IsTimeout(Exception failure) => failure is SqlException { Number: CommandTimeout or LockTimeout };
}
