using System.Text;
using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// The statements of one endpoint's inbox and outbox. The inbox holds the ids of the handled messages, the outbox their sends that are not
/// known to be dispatched. Both tables are in the handlers' database and are named after the endpoint.
/// </summary>
internal sealed class OutboxStatements
{
    public const string AreThere = "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL";

    /// <summary>Whether the outbox lacks one of its latest columns, because an earlier version of the kit created it.</summary>
    public const string IsOutdated =
        "SELECT count(*) < 2 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname IN ('headers', 'is_event') AND NOT attisdropped";

    /// <summary>Whether the inbox lacks an index that begins with the time.</summary>
    public const string LacksIndexOfAge =
        """
        SELECT NOT EXISTS (
            SELECT FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
            WHERE indrelid = to_regclass($1) AND attname = 'handled_at' AND indisvalid AND indpred IS NULL)
        """;

    /// <summary>How many ids <see cref="ForgetOld"/> deletes.</summary>
    public const int OldAtOnce = 1_000;

    // PostgreSQL truncates names at 63 bytes without an error.
    private const int LongestName = 56;

    private static readonly string[] Rights = ["SELECT", "INSERT", "DELETE"];

    private readonly string endpoint;
    private readonly string claims;

    public OutboxStatements(string endpoint)
    {
        if (Encoding.UTF8.GetByteCount(endpoint) > LongestName)
            throw new ArgumentException($"The endpoint's name '{endpoint}' is longer than {LongestName} bytes.", nameof(endpoint));

        this.endpoint = endpoint;
        Inbox = PostgreSqlStatement.Quoted(endpoint + "_inbox");
        Outbox = claims = PostgreSqlStatement.Quoted(endpoint + "_outbox");
    }

    /// <summary>The quoted name of the inbox: with its schema after <see cref="In"/>, which a handler's search path does not change.</summary>
    public string Inbox { get; private init; }

    /// <summary>The same of the outbox.</summary>
    public string Outbox { get; private init; }

    /// <summary>What the endpoint needs of the two tables.</summary>
    public (NeededTable Inbox, NeededTable Outbox) Needs =>
        (new NeededTable(Inbox, ["message_id"], Rights), new NeededTable(Outbox, ["causation_id", "position"], Rights));

    /// <summary>The same statements for the tables that were found.</summary>
    /// <param name="inbox">The quoted name of the inbox, with its schema.</param>
    /// <param name="outbox">The same of the outbox.</param>
    public OutboxStatements In(string inbox, string outbox) => new(endpoint) { Inbox = inbox, Outbox = outbox };

    /// <summary>Creates the tables, under a lock: two processes that start together would both create them.</summary>
    public string Create =>
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit outbox'));
        CREATE TABLE IF NOT EXISTS {Inbox} (
            message_id uuid PRIMARY KEY,
            handled_at timestamptz NOT NULL DEFAULT now());
        CREATE TABLE IF NOT EXISTS {Outbox} (
            causation_id uuid NOT NULL REFERENCES {Inbox} ON DELETE CASCADE,
            position integer NOT NULL,
            message_id uuid NOT NULL,
            queue text NOT NULL,
            type text NOT NULL,
            body bytea NOT NULL,
            headers text,
            is_event boolean NOT NULL DEFAULT false,
            PRIMARY KEY (causation_id, position));
        """;

    /// <summary>Adds the missing columns, without rewriting the table.</summary>
    public string Upgrade =>
        $"ALTER TABLE {Outbox} ADD COLUMN IF NOT EXISTS headers text, ADD COLUMN IF NOT EXISTS is_event boolean NOT NULL DEFAULT false";

    /// <summary>
    /// Waits for a transaction that is recording the same id, and does nothing when that commits. Otherwise returns by what <see cref="IsOwn"/> knows the
    /// record: its time, and the id of its transaction, of 64 bits, which no savepoint changes, no vacuum freezes and no wraparound repeats.
    /// </summary>
    public string Record => $"INSERT INTO {Inbox} (message_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING handled_at, pg_current_xact_id()";

    /// <summary>
    /// Whether a message's record is the one of the time $2 and the transaction $3; no row if there is none. The time excludes a record from after a crash in
    /// which the server has forgotten the transaction and assigned its id again; the id, another delivery's of the same microsecond.
    /// </summary>
    public string IsOwn =>
        $"SELECT coalesce(CASE WHEN handled_at = $2 THEN pg_xact_status($3::xid8) = 'committed' END, false) FROM {Inbox} WHERE message_id = $1";

    public string Unrecord => $"DELETE FROM {Inbox} WHERE message_id = $1";

    /// <summary>The index with which old ids are found.</summary>
    public string IndexAge => $"CREATE INDEX IF NOT EXISTS {PostgreSqlStatement.Quoted(endpoint + "_inbox_age")} ON {Inbox} (handled_at)";

    /// <summary>Deletes ids that are older than a time, some at once, and none of a message with a waiting send.</summary>
    public string ForgetOld =>
        $"""
        DELETE FROM {Inbox} WHERE message_id IN (
            SELECT message_id FROM {Inbox} AS old
            WHERE handled_at < now() - $1 AND NOT EXISTS (SELECT FROM {Outbox} WHERE causation_id = old.message_id)
            ORDER BY handled_at LIMIT {OldAtOnce})
        """;

    /// <summary>Reads the waiting records, grouped by message.</summary>
    public string ReadWaiting =>
        $"SELECT causation_id, queue FROM {Outbox} WHERE causation_id > $1 AND queue <> ALL ($2) ORDER BY causation_id, position LIMIT $3";

    public string ReadBacklog =>
        $"SELECT count(*), clock_timestamp() - min(i.handled_at) FROM {Outbox} o JOIN {Inbox} i ON i.message_id = o.causation_id";

    /// <summary>
    /// Claims the sends of one message, unless somebody else has claimed them. This is an advisory lock, because it covers all the records at
    /// once, and because a row lock would need the UPDATE privilege, which nothing else here needs.
    /// </summary>
    public NpgsqlBatchCommand Claiming(Guid messageId) =>
        PostgreSqlStatement.Of("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", $"{claims}/{messageId}");

    /// <summary>Fails if records could not be deleted after their dispatch: otherwise each search would send them again.</summary>
    public NpgsqlBatchCommand RequiringToForget => new($"DELETE FROM {Outbox} WHERE false");

    public NpgsqlBatchCommand ReadingUndispatched(Guid messageId) =>
        PostgreSqlStatement.Of(
            $"SELECT position, queue, message_id, type, body, headers, is_event FROM {Outbox} WHERE causation_id = $1 ORDER BY position", messageId);

    public NpgsqlBatchCommand Forgetting(Guid messageId, IEnumerable<OutboxRecord> dispatched) =>
        PostgreSqlStatement.Of(
            $"DELETE FROM {Outbox} WHERE causation_id = $1 AND position = ANY ($2)",
            messageId, dispatched.Select(record => record.Position).ToArray());

    /// <summary>Records one of the handler's sends.</summary>
    public NpgsqlBatchCommand Sending(Guid messageId, int position, OutgoingMessage send) =>
        PostgreSqlStatement.Of(
            $"INSERT INTO {Outbox} (causation_id, position, message_id, queue, type, body, headers, is_event) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            messageId, position, send.MessageId, send.Queue, send.Type, send.Body, MessageHeaders.Write(send.Headers), send.IsEvent);
}
