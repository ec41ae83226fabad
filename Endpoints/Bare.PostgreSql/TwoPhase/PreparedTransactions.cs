using System.Globalization;
using Npgsql;
using NpgsqlTypes;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Lists all prepared transactions of a PostgreSQL server, in all its databases, and ends them on request.</summary>
/// <remarks>
/// An endpoint's recovery ends the branches of its own queue. This class is for the others: branches whose endpoint no longer runs, branches
/// whose decision is unknown, and transactions of other applications.
/// </remarks>
/// <param name="connectionString">Any database of the server. Connections to its other databases use the same settings.</param>
/// <exception cref="NpgsqlException">In every member: the server cannot be reached or refused the statement.</exception>
public sealed class PreparedTransactions(string connectionString)
{
    // Locks of a prepared transaction have no process. They are found by its transaction id, and then by its virtual transaction id.
    private const string Prepared =
        """
        SELECT p.gid, p.database, p.owner, p.prepared, clock_timestamp() - p.prepared, (
            SELECT coalesce(array_agg(DISTINCT held.relation), '{}')
            FROM pg_locks own
            JOIN pg_locks held ON held.virtualtransaction = own.virtualtransaction AND held.locktype = 'relation'
            WHERE own.locktype = 'transactionid' AND own.transactionid = p.transaction
              AND held.database = (SELECT oid FROM pg_database WHERE datname = p.database))
        FROM pg_prepared_xacts p
        ORDER BY p.prepared, p.gid
        """;

    private const string Names =
        """
        SELECT pg_class.oid, concat(CASE nspname WHEN 'public' THEN '' ELSE quote_ident(nspname) || '.' END, quote_ident(relname))
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE pg_class.oid = ANY ($1) AND relkind IN ('r', 'p', 'm') ORDER BY 2
        """;

    // Each database's owner chooses what its sessions start with. Operators of another schema, or strings in which a backslash escapes, would make of a
    // superuser's statement another one.
    private const string Guard = "SET search_path TO pg_catalog, pg_temp; SET standard_conforming_strings TO on";

    private readonly NpgsqlConnectionStringBuilder settings = new(connectionString) { Pooling = false, Multiplexing = false, Enlist = false };

    /// <summary>Reads all prepared transactions, the oldest first.</summary>
    public async Task<IReadOnlyList<PreparedTransaction>> ReadAsync(CancellationToken cancellationToken)
    {
        await using var source = SourceOf(settings.Database);
        var here = (await QueueDatabase.ReadAsync(source, cancellationToken)).SystemIdentifier;
        var found = await ReadPreparedAsync(source, cancellationToken);
        var names = new Dictionary<string, IReadOnlyDictionary<uint, string>?>(StringComparer.Ordinal);
        foreach (var group in found.GroupBy(one => one.Database, StringComparer.Ordinal))
        {
            var locked = group.SelectMany(one => one.Locked).Distinct().ToArray();
            names[group.Key] = await TryReadNamesAsync(group.Key, locked, cancellationToken);
        }

        var read = new List<PreparedTransaction>();
        foreach (var one in found)
        {
            var (owner, queue, decision) = await JudgeAsync(source, here, one.GlobalId, cancellationToken);
            var tables = TablesOf(one.Locked, names[one.Database]);
            read.Add(new PreparedTransaction(one.GlobalId, one.Database, one.Role, one.Prepared, one.Age, owner, queue, decision, tables));
        }

        return read;
    }

    /// <summary>
    /// Ends one prepared transaction, in its database. A branch of a queue on this server is ended according to its decision. Any other, and a
    /// branch whose decision is unknown, is ended as <paramref name="asked"/>.
    /// </summary>
    /// <param name="globalId">Its global id.</param>
    /// <param name="asked">
    /// <see cref="BranchDecision.Committed"/> or <see cref="BranchDecision.Aborted"/>; <see langword="null"/> to use its decision.
    /// </param>
    /// <param name="cancellationToken">Cancels it. Whether the transaction was ended is then unknown.</param>
    /// <returns>How it was ended.</returns>
    /// <exception cref="BranchRefusedException">
    /// There is no transaction with that id; it is undecided; <paramref name="asked"/> contradicts its decision; its decision is unknown and
    /// nothing was asked; or the role is not allowed to end it.
    /// </exception>
    public async Task<BranchDecision> EndAsync(string globalId, BranchDecision? asked, CancellationToken cancellationToken)
    {
        if (asked is BranchDecision.Undecided or BranchDecision.Unknown)
            throw new ArgumentOutOfRangeException(nameof(asked), asked, "Expected committed or aborted.");

        var branch = (await ReadAsync(cancellationToken)).SingleOrDefault(one => one.GlobalId == globalId)
            ?? throw new BranchRefusedException(
                $"There is no prepared transaction '{globalId}' on this server.",
                "It may have been ended in the meantime. List them with: branches.");
        var outcome = OutcomeOf(branch, asked);
        await EndAsync(branch, outcome, cancellationToken);
        return outcome;
    }

    /// <summary>Rolls back all prepared transactions of one database, whoever prepared them and whatever was decided: it is about to be dropped.</summary>
    /// <param name="database">The database's name. It need not exist.</param>
    /// <param name="cancellationToken">Cancels it between two transactions.</param>
    public async Task RollBackAllAsync(string database, CancellationToken cancellationToken)
    {
        await using var server = SourceOf(settings.Database);
        var ids = await ReadIdsAsync(server, database, cancellationToken);
        if (ids.Count == 0)
            return;

        await using var source = SourceOf(database);
        foreach (var id in ids)
        {
            await using var command = source.CreateCommand($"ROLLBACK PREPARED {PostgreSqlStatement.Literal(id)}");
            await command.ExecuteNonQueryAsync(cancellationToken);
        }
    }

    private static BranchDecision OutcomeOf(PreparedTransaction branch, BranchDecision? asked) => branch switch
    {
        { Owner: BranchOwner.ThisServer, Decision: BranchDecision.Undecided } => throw new BranchRefusedException(
            $"'{branch.GlobalId}' is undecided: the transaction that received its message is still running.",
            "Wait until that transaction ends, or end its session. Then the endpoint's recovery or this command can end the branch."),
        { Owner: BranchOwner.ThisServer, Decision: BranchDecision.Committed } => asked is BranchDecision.Aborted
            ? throw Against(branch, "committed. Its message was handled, and rolling the branch back now would lose its rows.")
            : BranchDecision.Committed,
        { Owner: BranchOwner.ThisServer, Decision: BranchDecision.Aborted } => asked is BranchDecision.Committed
            ? throw Against(branch, "rolled back. Its message went back to its queue, and committing the branch now would keep rows of a failed attempt.")
            : BranchDecision.Aborted,
        { Owner: BranchOwner.ThisServer, Decision: BranchDecision.Unknown } =>
            asked ?? throw Undetermined(branch, "this server no longer knows its decision"),
        { Owner: BranchOwner.AnotherServer } =>
            asked ?? throw Undetermined(branch, "its decision is with its queue, on another server or in a table that this does not read"),
        { Owner: BranchOwner.Foreign } =>
            asked ?? throw Undetermined(branch, "it does not belong to the kit, and only the application that prepared it knows its decision"),
        _ => throw new ArgumentOutOfRangeException(nameof(branch), branch.Owner, "No such owner."),
    };

    private static BranchRefusedException Against(PreparedTransaction branch, string decided) =>
        new($"'{branch.GlobalId}' was decided: {decided}", "Leave the option out, so that the decision is used.");

    private static BranchRefusedException Undetermined(PreparedTransaction branch, string because)
    {
        var tables = branch.LockedTables.Count > 0 ? string.Join(", ", branch.LockedTables) : "it has locked no table";
        return new BranchRefusedException(
            $"You must decide how to end '{branch.GlobalId}': {because}.",
            $"Look at its rows and locks ({tables}), then add --commit or --rollback.");
    }

    private async Task EndAsync(PreparedTransaction branch, BranchDecision outcome, CancellationToken cancellationToken)
    {
        var verb = outcome is BranchDecision.Committed ? "COMMIT" : "ROLLBACK";
        var statement = $"{verb} PREPARED {PostgreSqlStatement.Literal(branch.GlobalId)}";
        await using var source = SourceOf(branch.Database);
        try
        {
            await using var command = source.CreateCommand(statement);
            await command.ExecuteNonQueryAsync(cancellationToken);
            if ((await ReadIdsAsync(source, branch.Database, cancellationToken)).Contains(branch.GlobalId, StringComparer.Ordinal))
            {
                throw new BranchRefusedException(
                    $"'{branch.GlobalId}' is still prepared, though the server reported its end.", "List it again with: branches.");
            }
        }
        catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            throw new BranchRefusedException(
                $"{settings.Username} is not allowed to end '{branch.GlobalId}' in database {branch.Database}: {refused.MessageText}.",
                branch.Role is { } role
                    ? $"Connect as {role}, which prepared it, or as a superuser."
                    : "Connect as a superuser: the role that prepared it was dropped.",
                refused);
        }
        catch (PostgresException gone) when (gone.SqlState == PostgresErrorCodes.UndefinedObject)
        {
            throw new BranchRefusedException(
                $"'{branch.GlobalId}' has just been ended by another session.", "There is nothing left to do.", gone);
        }
        catch (PostgresException busy) when (busy.SqlState == PostgresErrorCodes.ObjectNotInPrerequisiteState)
        {
            throw new BranchRefusedException(
                $"'{branch.GlobalId}' is being ended by another session.", "Check in a moment whether it is gone: branches.", busy);
        }
    }

    private static async Task<IReadOnlyList<string>> ReadIdsAsync(NpgsqlDataSource source, string database, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand("SELECT gid FROM pg_prepared_xacts WHERE database = $1");
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = database });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var ids = new List<string>();
        while (await reader.ReadAsync(cancellationToken))
            ids.Add(reader.GetString(0));

        return ids;
    }

    private static async Task<IReadOnlyList<Found>> ReadPreparedAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(Prepared);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var found = new List<Found>();
        while (await reader.ReadAsync(cancellationToken))
        {
            found.Add(new Found(
                reader.GetString(0), reader.GetString(1), reader.IsDBNull(2) ? null : reader.GetString(2), reader.GetFieldValue<DateTimeOffset>(3),
                reader.GetTimeSpan(4), reader.GetFieldValue<uint[]>(5)));
        }

        return found;
    }

    private static async Task<(BranchOwner Owner, string? Queue, BranchDecision Decision)> JudgeAsync(
        NpgsqlDataSource source, ulong here, string globalId, CancellationToken cancellationToken)
    {
        if (WorkerBranch.TryParse(globalId, out _))
            return (BranchOwner.AnotherServer, null, BranchDecision.Unknown);
        if (!ReceivesAsDecisions.TryParse(globalId, out var database, out var transactionId))
            return (BranchOwner.Foreign, null, BranchDecision.Unknown);
        if (database.SystemIdentifier != here)
            return (BranchOwner.AnotherServer, null, BranchDecision.Unknown);

        await using var name = source.CreateCommand("SELECT datname::text FROM pg_database WHERE oid = $1");
        name.Parameters.Add(new NpgsqlParameter<uint> { TypedValue = database.DatabaseOid, NpgsqlDbType = NpgsqlDbType.Oid });
        var queue = await name.ExecuteScalarAsync(cancellationToken) as string;
        return (BranchOwner.ThisServer, queue, await BranchDecisions.ReadAsync(source.CreateCommand(), transactionId, cancellationToken));
    }

    /// <summary>The tables' names; <see langword="null"/> if the role may not connect to their database.</summary>
    private async Task<IReadOnlyDictionary<uint, string>?> TryReadNamesAsync(
        string database, uint[] oids, CancellationToken cancellationToken)
    {
        try
        {
            await using var source = SourceOf(database);
            await using var command = source.CreateCommand(Names);
            command.Parameters.Add(new NpgsqlParameter { Value = oids, NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Oid });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            var names = new Dictionary<uint, string>();
            while (await reader.ReadAsync(cancellationToken))
                names.Add(reader.GetFieldValue<uint>(0), reader.GetString(1));

            return names;
        }
        catch (PostgresException)
        {
            return null;
        }
    }

    // Relations that are not tables, such as indexes and sequences, are not in the names.
    private static IReadOnlyList<string> TablesOf(IEnumerable<uint> locked, IReadOnlyDictionary<uint, string>? names) => names is null
        ? [.. locked.Order().Select(oid => $"relation {oid.ToString(CultureInfo.InvariantCulture)}")]
        : [.. locked.Where(names.ContainsKey).Select(oid => names[oid]).Order(StringComparer.Ordinal)];

    private NpgsqlDataSource SourceOf(string? database)
    {
        var builder = new NpgsqlDataSourceBuilder(settings.ConnectionString) { ConnectionStringBuilder = { Database = database } };
        // The driver would read the database's types first, with the database's settings.
        builder.ConfigureTypeLoading(types => types.EnableTypeLoading(false));
        builder.UsePhysicalConnectionInitializer(
            connection =>
            {
                using var guard = new NpgsqlCommand(Guard, connection);
                guard.ExecuteNonQuery();
            },
            async connection =>
            {
                await using var guard = new NpgsqlCommand(Guard, connection);
                await guard.ExecuteNonQueryAsync();
            });
        return builder.Build();
    }

    private sealed record Found(string GlobalId, string Database, string? Role, DateTimeOffset Prepared, TimeSpan Age, uint[] Locked);
}
