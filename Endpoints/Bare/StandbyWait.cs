using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Has a server wait for its log and its synchronous standbys, and watches whether it did. A commit whose wait is cancelled, by a time-out for example,
/// succeeds with a warning: it is on this server's disk and perhaps on no standby's, so that a failover takes it back. Where another server has forgotten the
/// message, or has decided on it, that must count as an answer that was lost.
/// </summary>
internal sealed class StandbyWait : IDisposable
{
    // The function of PostgreSQL that gives the warning, which is translated.
    private const string Waiting = "SyncRepWaitForLSN";

    /// <summary>
    /// Expressions: whatever a handler, a role or the server has set, the transaction that evaluates them waits at its end for the log and, as the server is
    /// set, for its standbys, and tells if it stops waiting. They are evaluated where the commit is, because nothing earlier is certain.
    /// </summary>
    public static readonly string OfTransaction = Settings(isLocal: true);

    /// <summary>A statement: the later transactions of its session do.</summary>
    public static readonly string OfSession = $"SELECT {Settings(isLocal: false)}";

    private readonly NpgsqlConnection connection;
    private bool isCancelled;

    private StandbyWait(NpgsqlConnection connection)
    {
        this.connection = connection;
        connection.Notice += Note;
    }

    /// <summary>A statement: <see cref="OfTransaction"/>.</summary>
    public static NpgsqlBatchCommand Setting => new($"SELECT {OfTransaction}");

    /// <summary>Statements: a commit that waits.</summary>
    public static IEnumerable<NpgsqlBatchCommand> Commit => [Setting, new("COMMIT")];

    /// <summary>The same in a transaction that has written nothing, whose commit would wait for nothing. This needs no right.</summary>
    public static IEnumerable<NpgsqlBatchCommand> CommitOfNothing => [new("SELECT pg_logical_emit_message(true, 'kit', '')"), .. Commit];

    /// <summary>Watches the statements of a connection until it is disposed of.</summary>
    public static StandbyWait On(NpgsqlConnection connection) => new(connection);

    /// <exception cref="ServerRefusedException">A statement did not wait to the end.</exception>
    public void Require()
    {
        if (isCancelled)
        {
            throw new ServerRefusedException(new NpgsqlException(
                "The server stopped waiting for its standbys (a time-out, or a cancellation), so that a failover could take the commit back."));
        }
    }

    /// <summary>
    /// Waits again as long as the wait is cancelled: a commit waits for all before it. What has committed is there, and another attempt would double it.
    /// </summary>
    /// <param name="cancellationToken">Asked before each wait.</param>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public async Task RepeatAsync(CancellationToken cancellationToken = default)
    {
        while (isCancelled)
        {
            cancellationToken.ThrowIfCancellationRequested();
            await AwaitAllAsync();
        }
    }

    /// <summary>Waits for all that has committed. If that is cancelled, <see cref="RepeatAsync"/> waits again.</summary>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public async Task AwaitAllAsync()
    {
        isCancelled = false;
        await PostgreSqlStatement.ExecuteAllAsync(connection, [new("BEGIN"), .. CommitOfNothing]);
    }

    public void Dispose() => connection.Notice -= Note;

    private static string Settings(bool isLocal)
    {
        var local = isLocal ? "true" : "false";
        return "set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' " +
            $"ELSE current_setting('synchronous_commit') END, {local}), set_config('client_min_messages', 'warning', {local})";
    }

    private void Note(object sender, NpgsqlNoticeEventArgs warning) => isCancelled |= warning.Notice.Routine == Waiting;
}
