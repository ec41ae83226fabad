using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>A PostgreSQL server of the user. The kit creates databases there and drops them, and changes nothing else.</summary>
internal sealed class NamedPostgreSql
{
    /// <summary>Questions for its clock.</summary>
    private const int Exchanges = 200;

    private const string Managed = "A managed server has its own way, such as rds.logical_replication and rds_replication.";

    private readonly PostgreSqlFacts facts;

    private NamedPostgreSql(string connectionString, PostgreSqlFacts facts, IReadOnlyList<Leftover> leftovers, KitException? undecodable) =>
        (ConnectionString, this.facts, Leftovers, Undecodable) = (connectionString, facts, leftovers, undecodable);

    public string ConnectionString { get; }

    public string Version => facts.Version;

    /// <summary>Host, port and user, without the password.</summary>
    public string Address => facts.Address;

    /// <summary>Databases that killed processes of the kit had left there.</summary>
    public IReadOnlyList<Leftover> Leftovers { get; }

    /// <summary>The reason why its log cannot be decoded, with the remedy; <see langword="null"/>: it can.</summary>
    public KitException? Undecodable { get; }

    /// <summary>
    /// True if it takes whoever follows its log for a synchronous standby (<c>*</c> in <c>synchronous_standby_names</c>): each commit of each client can wait
    /// for that.
    /// </summary>
    public bool TakesAnyStandby => facts.SynchronousStandbys.Contains('*', StringComparison.Ordinal);

    /// <summary>The standbys for which its commits can wait; <see langword="null"/>: none.</summary>
    public string? Standbys => facts.SynchronousStandbys is { Length: > 0 } names ? names : null;

    /// <summary>True if it records the moments of commits.</summary>
    public bool TracksCommitTimestamps => facts.TracksCommitTimestamps;

    /// <summary>Looks at the server, and drops databases that a killed process of the kit left there.</summary>
    /// <exception cref="KitException">It is out of reach, too old, a standby or behind a pooler, or the role may not create databases.</exception>
    public static async Task<NamedPostgreSql> OpenAsync(string connectionString, CancellationToken cancellationToken)
    {
        var read = await PostgreSqlFacts.ReadAsync(connectionString, cancellationToken);
        if (read.IsPooled)
        {
            throw new KitException(
                $"A pooler, such as PgBouncer, answers for the PostgreSQL server: {read.Address}. Through it the kit's databases are not reached.",
                "Name the server's own host and port.");
        }

        if (read.Findings(twoPhaseWanted: false).FirstOrDefault(finding => finding.IsFatal) is { Problem: { } problem, Remedy: { } remedy })
            throw new KitException(problem, remedy);
        try
        {
            var leftovers = await DatabaseOwner.RemoveLeftoversAsync(connectionString, cancellationToken);
            return new NamedPostgreSql(connectionString, read, leftovers, await TryToDecodeAsync(connectionString, read, cancellationToken));
        }
        catch (NpgsqlException failure)
        {
            throw PostgreSqlFacts.Explain(failure, read.Address);
        }
    }

    /// <summary>A connection string for sessions of the kit, which no limit of the user's role ends.</summary>
    public string ForKit(string connection) => ForKit(connection, facts);

    /// <summary>Compares its clock with this machine's.</summary>
    /// <exception cref="NpgsqlException">It does not answer.</exception>
    public async Task<ClockLead> ReadClockAsync(CancellationToken cancellationToken)
    {
        await using var connection = new NpgsqlConnection(ConnectionString);
        await connection.OpenAsync(cancellationToken);
        return await ClockLead.MeasureAsync(connection, Exchanges, cancellationToken);
    }

    /// <summary>A failure to decode its log, with the remedy; <see langword="null"/>: the server did not refuse it.</summary>
    public static KitException? Explained(Exception failure) => failure switch
    {
        PostgresException { SqlState: PostgresErrorCodes.ObjectNotInPrerequisiteState } => Why(
            "its wal_level is not logical", $"{PostgreSqlFacts.Set("wal_level", "logical")} {Managed}", failure),
        PostgresException { SqlState: PostgresErrorCodes.InsufficientPrivilege } => Why(
            "the role has no right to replication", $"As superuser: ALTER ROLE … REPLICATION. {Managed}", failure),
        PostgresException { SqlState: PostgresErrorCodes.ConfigurationLimitExceeded or PostgresErrorCodes.TooManyConnections } full => Why(
            $"no place is free: {full.MessageText}", "Drop unused slots (pg_replication_slots), or raise max_replication_slots and max_wal_senders.", failure),
        PostgresException { SqlState: PostgresErrorCodes.UndefinedFile } => Why(
            "it has no test_decoding", "Install PostgreSQL's contrib modules on it.", failure),
        PostgresException refused => Why(refused.MessageText, "See the server's log.", failure),
        NpgsqlException { InnerException: TimeoutException } => Why(
            "a transaction is open there, and decoding begins after its end", "End it (pg_stat_activity, pg_prepared_xacts), or wait.", failure),
        _ => null,
    };

    private static KitException Why(string because, string remedy, Exception failure) =>
        new($"The server's log cannot be decoded: {because}.", remedy, failure);

    private static string ForKit(string connection, PostgreSqlFacts facts)
    {
        var settings = new NpgsqlConnectionStringBuilder(connection);
        settings.Options = $"{settings.Options} {PatientSession.OptionsToWork(facts.MajorVersion)}".Trim();
        return settings.ConnectionString;
    }

    /// <summary>Decodes the log of a database of the kit, which is dropped.</summary>
    private static async Task<KitException?> TryToDecodeAsync(string connectionString, PostgreSqlFacts facts, CancellationToken cancellationToken)
    {
        var database = DatabaseOwner.NewName();
        try
        {
            await DatabaseOwner.CreateAsync(connectionString, database, template: null, cancellationToken);
            var own = ForKit(new NpgsqlConnectionStringBuilder(connectionString) { Database = database, Pooling = false }.ConnectionString, facts);
            await using var source = NpgsqlDataSource.Create(own);
            await using (await source.OpenConnectionAsync(cancellationToken))
            {
                // Whoever may not connect to it may not decode its log, and is told why by the server.
            }

            await using var log = await CommitLog.BeginAsync([(database, source, own)], isTemporary: true, Explained, cancellationToken);
            return null;
        }
        catch (KitException because)
        {
            return because;
        }
        finally
        {
            // If a session of others keeps it, the next start says so.
            await DatabaseOwner.TryDropAsync(connectionString, database, CancellationToken.None);
        }
    }
}
