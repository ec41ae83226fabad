using Kit.Runner.Results;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>
/// The transactions that were committed, from logical decoding (<c>test_decoding</c>): the application needs nothing for it. A transaction that was prepared
/// comes when it is committed.
/// </summary>
internal sealed class CommitLog : ICommits
{
    // An instance has one in each of its databases.
    private const int MostSlots = 100;

    private static readonly string[] Settings =
        ["ALTER SYSTEM SET wal_level = 'logical'", $"ALTER SYSTEM SET max_replication_slots = {MostSlots}"];

    private readonly List<LogSlot> slots = [];
    private readonly Func<Exception, KitException?> explain;

    private CommitLog(Func<Exception, KitException?> explain) => this.explain = explain;

    public int[] Sessions => [.. slots.Select(slot => slot.Holder?.ProcessID).OfType<int>()];

    /// <summary>Sets up the server, before it is started again, so that its log has the rows.</summary>
    /// <exception cref="NpgsqlException">The server refuses it.</exception>
    public static async Task PrepareAsync(string server, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(server);
        foreach (var setting in Settings)
        {
            await using var set = source.CreateCommand(setting);
            await set.ExecuteNonQueryAsync(cancellationToken);
        }
    }

    /// <summary>Begins in each database with the next transaction.</summary>
    /// <param name="databases">By the names of the file.</param>
    /// <param name="isTemporary">
    /// True if a session for each slot holds it: it ends with the session, however this process ends, and keeps no log of a server of others.
    /// </param>
    /// <param name="explain">Gives a failure its remedy; <see langword="null"/>: it has none.</param>
    /// <exception cref="KitException">The server cannot decode its log.</exception>
    public static async Task<CommitLog> BeginAsync(
        IEnumerable<(string Database, NpgsqlDataSource Source, string Connection)> databases, bool isTemporary, Func<Exception, KitException?> explain,
        CancellationToken cancellationToken)
    {
        var log = new CommitLog(explain);
        try
        {
            foreach (var (database, source, connection) in databases)
            {
                var slot = await LogSlot.OpenAsync(database, source, connection, isTemporary, cancellationToken);
                log.slots.Add(slot);
                await using var create = slot.CommandOf("SELECT pg_create_logical_replication_slot($1, 'test_decoding', $2)");
                create.Parameters.Add(new NpgsqlParameter<string> { TypedValue = slot.Name });
                create.Parameters.Add(new NpgsqlParameter<bool> { TypedValue = isTemporary });
                await create.ExecuteNonQueryAsync(cancellationToken);
            }

            return log;
        }
        catch (Exception failure)
        {
            await log.DisposeAsync();
            if (explain(failure) is { } explained)
                throw explained;
            throw;
        }
    }

    /// <summary>The transactions since the last time as they come. While it is not disposed, the log cannot be read otherwise.</summary>
    /// <param name="take">Receives each transaction. Called by a task of each database.</param>
    /// <exception cref="KitException">The server refuses it.</exception>
    public async Task<CommitStream> StreamAsync(Action<CommittedTransaction> take, CancellationToken cancellationToken)
    {
        List<LogSlot> streamed = [.. slots];
        if (streamed.Exists(slot => slot.Holder is not null))
        {
            // Only the session that has created such a slot can read from it: the stream creates its own.
            await DisposeAsync();
        }

        var stream = new CommitStream(streamed, take);
        try
        {
            await stream.BeginAsync(cancellationToken);
            return stream;
        }
        catch (Exception failure)
        {
            await stream.DisposeAsync();
            // Only a refusal, or a wait for its end: a connection can break, too.
            if (failure is PostgresException or NpgsqlException { InnerException: TimeoutException } && explain(failure) is { } explained)
                throw explained;
            throw;
        }
    }

    /// <summary>The transactions committed since the last time, in the order of the commits within each database.</summary>
    /// <exception cref="NpgsqlException">The server cannot be asked.</exception>
    public async Task<IReadOnlyList<CommittedTransaction>> ReadAsync(CancellationToken cancellationToken)
    {
        var read = new List<CommittedTransaction>();
        foreach (var slot in slots)
        {
            await using var get = slot.CommandOf(
                """
                SELECT xid::text, data, CASE WHEN data LIKE 'COMMIT%' THEN substring(data FROM '\(at (.*)\)$')::timestamptz END
                FROM pg_logical_slot_get_changes($1, NULL, NULL, 'include-xids', '0', 'skip-empty-xacts', '1', 'include-timestamp', '1')
                """);
            // The server answers when it has decoded the log of the whole round.
            get.CommandTimeout = 0;
            get.Parameters.Add(new NpgsqlParameter<string> { TypedValue = slot.Name });
            await using var reader = await get.ExecuteReaderAsync(cancellationToken);
            var lines = new List<(string Transaction, string Line, DateTimeOffset? Committed)>();
            while (await reader.ReadAsync(cancellationToken))
            {
                lines.Add((
                    reader.GetString(0), reader.GetString(1),
                    await reader.IsDBNullAsync(2, cancellationToken) ? null : reader.GetFieldValue<DateTimeOffset>(2)));
            }

            read.AddRange(CommittedTransaction.Of(slot.Database, lines));
        }

        return read;
    }

    /// <summary>A database with a slot cannot be dropped.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var slot in slots)
            await slot.DropAsync();
        slots.Clear();
    }

    /// <summary>A failure of the kit's own server to begin, with the remedy; <see langword="null"/>: it is not the server's.</summary>
    public static KitException? Explained(Exception failure) => failure switch
    {
        PostgresException { SqlState: PostgresErrorCodes.ConfigurationLimitExceeded } => new KitException(
            $"With 'commits', all instances together can have {MostSlots} databases, and they have more.",
            "Lower 'instances', or leave 'commits' out of the proof file.", failure)
        { IsUsage = true },
        PostgresException refused => new KitException(
            $"The server cannot decode its log: {refused.MessageText}.",
            "Install PostgreSQL's contrib modules. Without them leave 'commits' out of the proof file; 'drain' can measure no row then.", failure),
        NpgsqlException => new KitException(
            "The server's log cannot be read yet: it waits for a transaction that another instance holds open.",
            "Set 'instances' to 1, or leave 'commits' out of the proof file.", failure)
        { IsUsage = true },
        _ => null,
    };
}

/// <summary>A transaction that a server has committed.</summary>
/// <param name="Database">By the name in the file.</param>
/// <param name="Changes">Its rows: <c>public.placed_order: INSERT: id[uuid]:'…'</c>.</param>
/// <param name="CommittedUtc">By the server's clock.</param>
internal sealed record CommittedTransaction(string Database, IReadOnlyList<string> Changes, DateTimeOffset CommittedUtc)
{
    private const string BeforeTable = "table ";
    private const string Deleted = "DELETE:";
    private const int MostChanges = 8;
    private const int LongestChange = 160;

    /// <summary>The transactions in the lines of <c>test_decoding</c>.</summary>
    /// <param name="lines">Each with its transaction's id. Those of a transaction are next to each other, and the last has the moment of its commit.</param>
    public static IEnumerable<CommittedTransaction> Of(string database, IEnumerable<(string Transaction, string Line, DateTimeOffset? Committed)> lines) =>
        from line in lines
        group line by line.Transaction into transaction
        let changes = transaction.Select(line => ChangeIn(line.Line)).OfType<string>().ToList()
        where changes.Count > 0
        select new CommittedTransaction(
            database, changes,
            transaction.Select(line => line.Committed).OfType<DateTimeOffset>().Single());

    /// <summary>The change of a row in a line of <c>test_decoding</c>; <see langword="null"/>: it has none.</summary>
    public static string? ChangeIn(string line) => line.StartsWith(BeforeTable, StringComparison.Ordinal) ? line[BeforeTable.Length..] : null;

    /// <summary>Its rows that were not deleted, each with its table's name without the schema.</summary>
    public IEnumerable<(string Table, string Text)> Written =>
        from change in Changes
        let end = change.IndexOf(": ", StringComparison.Ordinal)
        where !change[(end + 2)..].StartsWith(Deleted, StringComparison.Ordinal)
        select (TableIn(change[..end]), change);

    /// <summary>The kind and the table of each changed row: <c>INSERT</c>, <c>placed_order</c>.</summary>
    public IEnumerable<(string Kind, string Table)> Rows =>
        from change in Changes
        let end = change.IndexOf(": ", StringComparison.Ordinal)
        let kind = change[(end + 2)..]
        select (kind[..kind.IndexOf(':', StringComparison.Ordinal)], TableIn(change[..end]));

    /// <summary>True if one of its rows has the id of a message.</summary>
    public bool Names(Guid message) => Changes.Any(change => ProofAccount.Names(change, message));

    /// <summary>A line of a report.</summary>
    public override string ToString() => $"committed together in {Database}: {string.Join("; ", Changes.Take(MostChanges).Select(Shortened))}" +
        (Changes.Count > MostChanges ? $"; and {Changes.Count - MostChanges} more rows" : "");

    private static string TableIn(string qualified) => qualified[(qualified.LastIndexOf('.') + 1)..].Trim('"');

    private static string Shortened(string change) => change.Length > LongestChange ? $"{change[..LongestChange]} …" : change;
}
