using System.Net.Sockets;
using Kit.Runner.Results;
using Npgsql;

namespace Kit.Runner.Servers;

/// <summary>Facts that a PostgreSQL server reports about itself, as far as a run depends on them.</summary>
/// <param name="Address">Host, port and our user, without the password.</param>
/// <param name="MajorVersion">The number before the first dot.</param>
/// <param name="Version">As the server names it.</param>
/// <param name="PreparedTransactions">All that exist now, in all databases.</param>
/// <param name="OurPreparedTransactions">Prepared transactions with an id of the kit's.</param>
public sealed record PostgreSqlFacts(
    string Address,
    int MajorVersion,
    string Version,
    int MaxPreparedTransactions,
    bool TracksCommitTimestamps,
    bool MayCreateDatabases,
    int PreparedTransactions,
    int OurPreparedTransactions,
    bool Fsync,
    string SynchronousCommit,
    bool FullPageWrites)
{
    private const string Question =
        """
        SELECT current_setting('server_version_num')::int / 10000,
               current_setting('server_version'),
               current_setting('max_prepared_transactions')::int,
               current_setting('track_commit_timestamp')::bool,
               (SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user),
               (SELECT count(*)::int FROM pg_prepared_xacts),
               (SELECT count(*)::int FROM pg_prepared_xacts WHERE gid ~ '^kit2?/'),
               current_setting('fsync')::bool,
               current_setting('synchronous_commit'),
               current_setting('full_page_writes')::bool,
               current_setting('max_connections')::int,
               current_setting('superuser_reserved_connections')::int,
               pg_is_in_recovery(),
               pg_backend_pid(),
               current_setting('synchronous_standby_names')
        """;

    // Long enough for a server across an ocean, short enough for a person who waits.
    private const int TimeoutSeconds = 10;

    /// <summary>Connections that it accepts.</summary>
    public int MaxConnections { get; init; }

    /// <summary>Connections that it keeps for superusers.</summary>
    public int ReservedConnections { get; init; }

    /// <summary>True if it is a standby, which accepts no writes.</summary>
    public bool IsStandby { get; init; }

    /// <summary>The standbys for which commits can wait, as the setting names them; empty: none.</summary>
    public string SynchronousStandbys { get; init; } = "";

    /// <summary>True if the session is not the client's own: a pooler is in between, and has another key for cancelling.</summary>
    public bool IsPooled { get; init; }

    /// <summary>Asks the server.</summary>
    /// <exception cref="KitException">
    /// The connection string cannot be read, or the server is out of reach, refuses user or password, or has no such database. The message
    /// never contains the password.
    /// </exception>
    public static async Task<PostgreSqlFacts> ReadAsync(string connectionString, CancellationToken cancellationToken)
    {
        var settings = Parse(connectionString);
        var address = AddressOf(settings);
        try
        {
            await using var connection = new NpgsqlConnection(settings.ConnectionString);
            await connection.OpenAsync(cancellationToken);
            await using var command = new NpgsqlCommand(Question, connection);
            await using var row = await command.ExecuteReaderAsync(cancellationToken);
            await row.ReadAsync(cancellationToken);
            return new PostgreSqlFacts(
                address, row.GetInt32(0), row.GetString(1), row.GetInt32(2), row.GetBoolean(3), row.GetBoolean(4), row.GetInt32(5),
                row.GetInt32(6), row.GetBoolean(7), row.GetString(8), row.GetBoolean(9))
            {
                MaxConnections = row.GetInt32(10),
                ReservedConnections = row.GetInt32(11),
                IsStandby = row.GetBoolean(12),
                IsPooled = row.GetInt32(13) != connection.ProcessID,
                SynchronousStandbys = row.GetString(14),
            };
        }
        catch (NpgsqlException failure)
        {
            throw Explain(failure, address);
        }
    }

    /// <summary>The server's address and our user, without the password.</summary>
    public static string AddressOf(NpgsqlConnectionStringBuilder settings) =>
        $"{settings.Username ?? "(no user)"} at {settings.Host}:{settings.Port}/{settings.Database ?? settings.Username}";

    /// <summary>The findings about all that a run depends on, each with its problem if there is one.</summary>
    /// <param name="twoPhaseWanted">True if a mode that prepares transactions is wanted; only then is it fatal that the server allows none.</param>
    public IEnumerable<Finding> Findings(bool twoPhaseWanted)
    {
        yield return MajorVersion >= PostgreSqlBinaries.OldestMajorVersion
            ? new Finding("PostgreSQL server", $"{Version}, {Address}")
            : new Finding(
                "PostgreSQL server", $"{Version}, {Address}",
                $"PostgreSQL {PostgreSqlBinaries.OldestMajorVersion} or newer is needed (pg_current_xact_id, pg_xact_status); the server is {Version}.",
                "Name a newer server, or name none and let the kit start its own.", IsFatal: true);

        if (IsStandby)
        {
            yield return new Finding(
                "role of the server", "standby",
                $"The server is a standby, which accepts no writes: {Address}.", "Name its primary.", IsFatal: true);
        }

        yield return MayCreateDatabases
            ? new Finding("create databases", "allowed")
            : new Finding(
                "create databases", "not allowed",
                $"The kit creates databases of its own, and {Address} may not create any.",
                "As superuser: ALTER ROLE … CREATEDB; or name a user that may.", IsFatal: true);

        yield return MaxPreparedTransactions > 0
            ? new Finding("max_prepared_transactions", $"{MaxPreparedTransactions}")
            : new Finding(
                "max_prepared_transactions", "0",
                "full-dtc prepares transactions, and the server forbids it: max_prepared_transactions is 0.",
                $"{Set("max_prepared_transactions", $"{ClusterSettings.MaxPreparedTransactions}")} Or run without full-dtc.",
                IsFatal: twoPhaseWanted);

        yield return PreparedTransactions == 0
            ? new Finding("prepared transactions", "none left over")
            : new Finding(
                "prepared transactions", $"{PreparedTransactions}, {OurPreparedTransactions} of them the kit's",
                "Prepared transactions hold their locks and block VACUUM until they are committed or rolled back.",
                "See pg_prepared_xacts; in the database of each, run COMMIT PREPARED or ROLLBACK PREPARED '<gid>'. " +
                "Those of the kit are ended by an endpoint that starts on their queue.");

        yield return TracksCommitTimestamps
            ? new Finding("track_commit_timestamp", "on")
            : new Finding(
                "track_commit_timestamp", "off",
                "The server does not record when a row was committed; a round ends with the last handler instead, before the last commit.",
                Set("track_commit_timestamp", "on"));

        yield return Durability();
    }

    /// <summary>Instructions to change a setting that takes effect when the server starts.</summary>
    public static string Set(string setting, string value) =>
        $"As superuser: ALTER SYSTEM SET {setting} = {value}; then restart the server.";

    private Finding Durability()
    {
        var found = $"fsync {OnOff(Fsync)}, synchronous_commit {SynchronousCommit}, full_page_writes {OnOff(FullPageWrites)}";
        return Fsync && FullPageWrites && SynchronousCommit is not "off"
            ? new Finding("durability", found)
            : new Finding(
                "durability", found,
                "The server reports a commit before it is on disk: rates are too high, and a crash can lose or double messages in every mode.",
                "Switch fsync, synchronous_commit and full_page_writes on, unless you want to measure without them.");
    }

    private static string OnOff(bool on) => on ? "on" : "off";

    /// <exception cref="KitException">It cannot be read. The message does not repeat it.</exception>
    public static NpgsqlConnectionStringBuilder Parse(string connectionString)
    {
        try
        {
            var settings = new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false, Timeout = TimeoutSeconds, CommandTimeout = TimeoutSeconds };
            return settings.Host is null ? throw new ArgumentException("No host.", nameof(connectionString)) : settings;
        }
        catch (Exception unreadable) when (unreadable is ArgumentException or FormatException)
        {
            // The parser's message is not repeated: it can contain a piece of a password.
            throw new KitException(
                "The PostgreSQL connection string cannot be read.",
                "Expected: Host=…;Port=5432;Username=…;Password=…;Database=… (quote a password that contains a semicolon).");
        }
    }

    /// <summary>The cause and the remedy of a failure.</summary>
    public static KitException Explain(NpgsqlException failure, string address) => failure switch
    {
        PostgresException { SqlState: PostgresErrorCodes.InvalidPassword } => new KitException(
            $"Wrong password: {address}.", "Correct the Password in the connection string.", failure),
        PostgresException { SqlState: PostgresErrorCodes.InvalidAuthorizationSpecification } refused => new KitException(
            $"The server refuses this user from this machine: {address}: {refused.MessageText}.", "See the server's pg_hba.conf.", failure),
        PostgresException { SqlState: PostgresErrorCodes.InvalidCatalogName } => new KitException(
            $"The server has no such database: {address}.", "Name one that exists in the connection string, such as Database=postgres.", failure),
        PostgresException told => new KitException(
            $"The server answered with an error: {address}: {told.MessageText} ({told.SqlState}).", "See the server's log.", failure),
        { InnerException: SocketException or TimeoutException or IOException } => new KitException(
            $"The PostgreSQL server is out of reach: {address}: {failure.InnerException.Message}.",
            "Start it, or correct Host and Port; or name no server, and the kit starts its own.", failure),
        _ => new KitException(
            $"No connection to the PostgreSQL server: {address}: {failure.Message}", "Correct the connection string.", failure),
    };
}
