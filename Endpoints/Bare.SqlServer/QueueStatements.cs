using System.Globalization;
using Kit.Modes;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>
/// The statements of one queue, which is a table clustered by its identity and read with <c>READPAST</c>, and of its error table.
/// </summary>
internal sealed class QueueStatements
{
    // SQL Server allows 128 characters, and the error table's name is longer.
    private const int LongestName = 120;

    // A row that an uncommitted receive has deleted is still a message. Only a row version shows it without waiting for its lock.
    public const string AsCommitted = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; ";

    // A message that would have to wait for longer than anyone lets it was put back before the clock stepped back.
    private readonly double latest;

    /// <summary>
    /// Before a send that belongs to an ambient transaction: if the server has ended it, System.Transactions does not know, and the send would commit alone.
    /// </summary>
    public const string RequireTransaction =
        "IF @@TRANCOUNT = 0 THROW 50000, N'The server has ended the transaction of the receive, so nothing is sent.', 1; ";

    /// <param name="name">The queue's name.</param>
    /// <param name="longestDelay">The longest time for which its endpoint puts a message back; by default that of the default pause.</param>
    public QueueStatements(string name, TimeSpan? longestDelay = null)
    {
        latest = Math.Min(2 * (longestDelay ?? BackOff.Longest(TimeSpan.FromSeconds(1))).TotalMilliseconds, int.MaxValue);
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        if (name.Length > LongestName)
            throw new ArgumentException($"The queue name '{name}' is longer than {LongestName} characters.", nameof(name));

        Queue = Quoted(name);
        Errors = Quoted(ErrorQueue.Of(name));
    }

    public string Queue { get; }

    public string Errors { get; }

    /// <summary>Creates missing tables, under a lock: two processes that start together would both create them.</summary>
    public string Create =>
        $"""
        SET XACT_ABORT ON;
        BEGIN TRANSACTION;
        EXEC sp_getapplock @Resource = 'kit queue', @LockMode = 'Exclusive';
        IF OBJECT_ID({Literal(Queue)}) IS NULL
        CREATE TABLE {Queue} (
            position bigint IDENTITY(1, 1) NOT NULL PRIMARY KEY CLUSTERED,
            message_id uniqueidentifier NOT NULL,
            type nvarchar(400) NOT NULL,
            body varbinary(max) NOT NULL,
            failed_attempts int NOT NULL DEFAULT 0,
            not_before datetime2 NOT NULL DEFAULT '0001-01-01',
            headers nvarchar(max) NULL);
        IF OBJECT_ID({Literal(Errors)}) IS NULL
        CREATE TABLE {Errors} (
            position bigint NOT NULL,
            message_id uniqueidentifier NOT NULL,
            type nvarchar(400) NOT NULL,
            body varbinary(max) NOT NULL,
            failed_attempts int NOT NULL,
            reason nvarchar(max) NOT NULL,
            failed_at datetime2 NOT NULL DEFAULT sysutcdatetime(),
            headers nvarchar(max) NULL);
        COMMIT TRANSACTION
        """;

    public string IsMissing => $"SELECT CASE WHEN OBJECT_ID({Literal(Queue)}) IS NULL OR OBJECT_ID({Literal(Errors)}) IS NULL THEN 1 ELSE 0 END";

    /// <summary>Whether a table lacks its latest column, because an earlier version of the kit created it.</summary>
    public string IsOutdated =>
        $"SELECT CASE WHEN COL_LENGTH({Literal(Queue)}, 'headers') IS NULL OR COL_LENGTH({Literal(Errors)}, 'headers') IS NULL THEN 1 ELSE 0 END";

    /// <summary>Whether the queue lacks the key without which a receive could delete two rows and return one.</summary>
    public string LacksKey =>
        $"""
        SELECT CASE WHEN EXISTS (
            SELECT 1 FROM sys.indexes AS i
            WHERE i.object_id = OBJECT_ID({Literal(Queue)}) AND i.is_unique = 1 AND i.is_disabled = 0 AND i.has_filter = 0
              AND 'position' = (
                SELECT STRING_AGG(c.name, ',') FROM sys.index_columns AS k JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
                WHERE k.object_id = i.object_id AND k.index_id = i.index_id AND k.is_included_column = 0)) THEN 0 ELSE 1 END
        """;

    /// <summary>Adds that key.</summary>
    public string AddKey => $"ALTER TABLE {Queue} ADD PRIMARY KEY CLUSTERED (position)";

    /// <summary>Adds the missing column, without rewriting the tables.</summary>
    public string Upgrade =>
        $"IF COL_LENGTH({Literal(Queue)}, 'headers') IS NULL ALTER TABLE {Queue} ADD headers nvarchar(max) NULL; " +
        $"IF COL_LENGTH({Literal(Errors)}, 'headers') IS NULL ALTER TABLE {Errors} ADD headers nvarchar(max) NULL";

    public string Drop => $"DROP TABLE IF EXISTS {Queue}, {Errors}";

    /// <summary>
    /// Deletes the first row that is not locked. With READ_COMMITTED_SNAPSHOT on, the server refuses READPAST alone; READCOMMITTEDLOCK switches to
    /// locking read committed.
    /// </summary>
    public string Receive => string.Create(
        CultureInfo.InvariantCulture,
        $"""
        WITH first AS (
            SELECT TOP (1) position, message_id, type, body, failed_attempts, headers
            FROM {Queue} WITH (READPAST, ROWLOCK, UPDLOCK, READCOMMITTEDLOCK)
            WHERE not_before <= sysutcdatetime() OR not_before > dateadd(millisecond, {latest:F0}, sysutcdatetime()) ORDER BY position)
        DELETE FROM first OUTPUT deleted.position, deleted.message_id, deleted.type, deleted.body, deleted.failed_attempts, deleted.headers
        """);

    /// <summary>Whether the login has the right that <see cref="Requeue"/> needs more than others.</summary>
    public string MayRequeue => $"SELECT coalesce(HAS_PERMS_BY_NAME({Literal(Queue)}, 'OBJECT', 'ALTER'), 0)";

    /// <summary>Puts a received message back at its position, in the transaction that received it. Needs ALTER on the table.</summary>
    public string Requeue =>
        $"""
        SET IDENTITY_INSERT {Queue} ON;
        INSERT INTO {Queue} (position, message_id, type, body, failed_attempts, headers, not_before)
        VALUES (@position, @message_id, @type, @body, @failed_attempts, @headers, dateadd(millisecond, @delay, sysutcdatetime()));
        SET IDENTITY_INSERT {Queue} OFF
        """;

    public string MoveToErrors =>
        $"INSERT INTO {Errors} (position, message_id, type, body, failed_attempts, headers, reason) " +
        "VALUES (@position, @message_id, @type, @body, @failed_attempts, @headers, @reason)";

    /// <summary>Takes a message. Waits if another worker has it. Another can be at its position: a failover or a restore can take that back.</summary>
    public string Take =>
        $"DELETE FROM {Queue} WITH (ROWLOCK, READCOMMITTEDLOCK) OUTPUT deleted.failed_attempts WHERE position = @position AND message_id = @message_id";

    public string Count => $"{AsCommitted}SELECT count_big(*) FROM {Queue}";

    public string ReadMessages => $"{AsCommitted}SELECT message_id FROM {Queue} ORDER BY position";

    public string ReadBodies => $"{AsCommitted}SELECT message_id, body FROM {Queue} ORDER BY position";

    public string ReadBodySize => $"{AsCommitted}SELECT TOP (1) CAST(datalength(body) AS int) FROM {Queue} ORDER BY position";

    public string ReadErrors => $"{AsCommitted}SELECT message_id, failed_attempts, reason FROM {Errors} ORDER BY failed_at";

    /// <summary>Sends a message. Without headers it does not need the headers column, which tables of earlier versions lack.</summary>
    public static string Send(string queue, bool hasHeaders) => hasHeaders
        ? $"INSERT INTO {Quoted(queue)} (message_id, type, body, headers) VALUES (@message_id, @type, @body, @headers)"
        : $"INSERT INTO {Quoted(queue)} (message_id, type, body) VALUES (@message_id, @type, @body)";

    private static string Literal(string text) => $"N'{text.Replace("'", "''", StringComparison.Ordinal)}'";

    private static string Quoted(string name) => $"[{name.Replace("]", "]]", StringComparison.Ordinal)}]";
}
