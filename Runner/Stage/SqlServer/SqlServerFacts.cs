using System.Security.Authentication;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Microsoft.Data.SqlClient;

namespace Kit.Runner.Stage.SqlServer;

/// <summary>Facts that a SQL Server reports about itself, as far as a run depends on them.</summary>
/// <param name="Address">Host and our login, without the password.</param>
/// <param name="Version">Product version.</param>
/// <param name="Edition">As the server names it.</param>
internal sealed record SqlServerFacts(string Address, string Version, string Edition, bool MayCreateDatabases)
{
    // 2017: STRING_AGG, with which an event is published.
    private const int OldestMajorVersion = 14;

    // Long enough for a server across an ocean, short enough for a person who waits.
    private const int TimeoutSeconds = 10;

    private const string Question =
        """
        SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)),
               CAST(SERVERPROPERTY('Edition') AS nvarchar(128)),
               CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'CREATE ANY DATABASE') = 1 OR IS_SRVROLEMEMBER('dbcreator') = 1 THEN 1 ELSE 0 END
        """;

    /// <summary>Asks the server.</summary>
    /// <exception cref="KitException">
    /// The connection string cannot be read, or the server is out of reach, refuses login or password, or has no such database. The message
    /// never contains the password.
    /// </exception>
    public static async Task<SqlServerFacts> ReadAsync(string connectionString, CancellationToken cancellationToken)
    {
        var settings = Parse(connectionString);
        var address = $"{(settings.UserID.Length > 0 ? settings.UserID : "(no user)")} at {settings.DataSource}";
        try
        {
            await using var connection = await SqlServerConnections.OpenAsync(settings.ConnectionString, cancellationToken);
            var rows = await connection.ReadAsync(
                Question, row => new SqlServerFacts(address, row.GetString(0), row.GetString(1), row.GetInt32(2) == 1), cancellationToken);
            return rows[0];
        }
        catch (SqlException failure)
        {
            throw Explain(failure.Number, failure, address);
        }
    }

    /// <summary>The findings about all that a run depends on, each with its problem if there is one.</summary>
    public IEnumerable<Finding> Findings()
    {
        var found = $"{Version}, {Edition}, {Address}";
        yield return int.TryParse(Version.Split('.')[0], out var major) && major >= OldestMajorVersion
            ? new Finding("SQL Server", found)
            : new Finding(
                "SQL Server", found,
                $"SQL Server 2017 ({OldestMajorVersion}.0) or newer is needed; the server is {Version}.",
                "Name a newer server.", IsFatal: true);

        yield return MayCreateDatabases
            ? new Finding("SQL Server: create databases", "allowed")
            : new Finding(
                "SQL Server: create databases", "not allowed",
                $"The kit creates databases of its own, and {Address} may not create any.",
                "As administrator: ALTER SERVER ROLE dbcreator ADD MEMBER …; or name a login that may.", IsFatal: true);
    }

    /// <summary>
    /// The cause and the remedy of a driver's error.
    /// Numbers: https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors.
    /// </summary>
    internal static KitException Explain(int number, Exception failure, string address) => number switch
    {
        18456 => new KitException($"Wrong login or password: {address}.", "Correct the User ID and Password in the connection string.", failure),
        4060 => new KitException(
            $"The server has no such database, or the login may not use it: {address}.",
            "Name one that exists, such as Database=master.", failure),
        _ when failure.InnerException is AuthenticationException => new KitException(
            $"The server's certificate is not trusted: {address}.",
            "Install its certificate here, or add TrustServerCertificate=true if you trust the network.",
            failure),
        // -2: time limit. All others: no connection.
        -2 or 0 or 2 or 53 or 258 or 10060 or 10061 or 11001 => new KitException(
            $"The SQL Server is out of reach: {address}.", "Start it, or correct Server (host,port); see that it listens on TCP.", failure),
        _ => new KitException($"The server answered with an error: {address}: {failure.Message} ({number})", "See the server's log.", failure),
    };

    private static SqlConnectionStringBuilder Parse(string connectionString)
    {
        try
        {
            var settings = new SqlConnectionStringBuilder(connectionString) { ConnectTimeout = TimeoutSeconds, CommandTimeout = TimeoutSeconds };
            return settings.DataSource.Length == 0 ? throw new ArgumentException("No server.", nameof(connectionString)) : settings;
        }
        catch (Exception unreadable) when (unreadable is ArgumentException or FormatException or KeyNotFoundException)
        {
            // The parser's message is not repeated: it can contain a piece of a password.
            throw new KitException(
                "The SQL Server connection string cannot be read.",
                "Expected: Server=host,1433;User ID=…;Password=…;TrustServerCertificate=… (quote a password that contains a semicolon).");
        }
    }
}
