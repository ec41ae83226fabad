using System.Data;
using System.Runtime.ExceptionServices;
using Kit.Endpoints.Bare.Tables;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>
/// Commits a receive, begins the next one and receives, in one round trip. PostgreSQL executes the statements one after the other and skips the rest
/// after an error. So nothing is received after a commit that failed. A receive that fails is thrown by the next <see cref="TakeTransaction"/>, and never
/// looks like a commit that failed: the server has answered the commit by itself.
/// </summary>
/// <remarks>
/// The message is in an open transaction until it is handled. If the session ends before that, the server rolls the receive back, and no attempt is counted.
/// The driver's transaction object stays the same: it stands for the connection's transaction, whoever has begun that.
/// </remarks>
/// <param name="session">The session, whose connection can be another for each message.</param>
/// <param name="isolation">The isolation level of the session's transactions.</param>
/// <param name="statements">The statements of the queue.</param>
internal sealed class ReceiveAhead(QueueSession session, IsolationLevel isolation, QueueStatements statements)
{
    private readonly string begin = $"BEGIN ISOLATION LEVEL {NameOf(isolation)}";
    private NpgsqlTransaction? transaction;
    private QueuedMessage? received;
    private Exception? failed;

    /// <summary>Whether the last commit has received a message, which is in an open transaction.</summary>
    public bool HasMessage => received is not null;

    /// <summary>The transaction that the last commit has begun; <see langword="null"/>: it has received nothing.</summary>
    /// <exception cref="Exception">It could not receive. It did commit.</exception>
    public NpgsqlTransaction? TakeTransaction()
    {
        if (failed is { } failure)
        {
            failed = null;
            ExceptionDispatchInfo.Throw(failure);
        }

        return received is null ? null : transaction;
    }

    /// <summary>The message that the last commit has received, once.</summary>
    public QueuedMessage? TakeMessage()
    {
        var taken = received;
        received = null;
        return taken;
    }

    /// <param name="begun">The transaction that commits.</param>
    /// <param name="beforeCommit">Statements that run in it first. If one of them fails, the transaction is left failed.</param>
    /// <exception cref="NpgsqlException">It did not commit, or the connection was lost and only the server knows.</exception>
    public async Task CommitAsync(NpgsqlTransaction begun, IReadOnlyList<NpgsqlBatchCommand> beforeCommit)
    {
        if (received is not null)
            throw new InvalidOperationException("A message was received with the last commit and has not been handled.");

        transaction = begun;
        var commit = new NpgsqlBatchCommand("COMMIT");
        try
        {
            received = await ExecuteAsync(
                [.. beforeCommit, commit, new NpgsqlBatchCommand(begin), PostgreSqlStatement.Of(statements.Receive, statements.Queue)]);
            // An idle session must not keep a transaction open.
            if (received is null)
                await PostgreSqlStatement.ExecuteAllAsync(session.Connection, "ROLLBACK");
        }
        catch (Exception failure) when (PostgreSqlStatement.HasRun(commit))
        {
            failed = failure is PostgresException { SqlState: PostgresErrorCodes.DivisionByZero } ? statements.OfAnotherTable(failure) : failure;
        }
    }

    private static string NameOf(IsolationLevel isolation) => isolation switch
    {
        IsolationLevel.ReadCommitted => "READ COMMITTED",
        IsolationLevel.RepeatableRead => "REPEATABLE READ",
        IsolationLevel.Serializable => "SERIALIZABLE",
        _ => throw new NotSupportedException($"The isolation level {isolation} is unknown."),
    };

    private async Task<QueuedMessage?> ExecuteAsync(IReadOnlyList<NpgsqlBatchCommand> commands)
    {
        await using var batch = new NpgsqlBatch(session.Connection);
        foreach (var command in commands)
            batch.BatchCommands.Add(command);

        // Only the first time does this ask the server: from then on the connection knows the statements. Sends go to any queue, and are not prepared.
        if (commands.SkipLast(1).All(command => command.Parameters.Count == 0))
            await batch.PrepareAsync();
        await using var reader = await batch.ExecuteReaderAsync();
        return (await QueueSession.ReadOneAsync(reader, withTransactionId: false)).Message;
    }
}
