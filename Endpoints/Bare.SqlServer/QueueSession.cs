using System.Data;
using System.Data.Common;
using Kit.Endpoints.Bare.Tables;
using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>One worker's connection to its queue in SQL Server.</summary>
internal sealed class QueueSession : IQueueSession
{
    private readonly SqlConnection connection;
    private readonly QueueStatements statements;
    private readonly IsolationLevel isolation;
    private SqlTransaction? transaction;
    private bool hasFailedToSend;

    private QueueSession(SqlConnection connection, QueueStatements statements, IsolationLevel isolation)
    {
        this.connection = connection;
        this.statements = statements;
        this.isolation = isolation;
    }

    // If the server has ended a command's transaction, the driver silently autocommits the command. And if the second of several sends fails,
    // the first is already in the transaction.
    private bool IsTransactionLost => transaction is not null && (transaction.Connection is null || hasFailedToSend);

    public bool IsOpen => connection.State == ConnectionState.Open;

    public static async Task<QueueSession> OpenAsync(
        string connectionString,
        QueueStatements statements,
        IsolationLevel isolation,
        CancellationToken cancellationToken)
    {
        var opened = new SqlConnection(connectionString);
        try
        {
            await opened.OpenAsync(cancellationToken);
            return new QueueSession(opened, statements, isolation);
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    public async ValueTask<DbTransaction> BeginAsync()
    {
        hasFailedToSend = false;
        return transaction = (SqlTransaction)await connection.BeginTransactionAsync(isolation);
    }

    public async Task<QueuedMessage?> ReceiveAsync()
    {
        await using var command = Command(statements.Receive);
        await using var reader = await command.ExecuteReaderAsync();
        return await reader.ReadAsync()
            ? new QueuedMessage(
                reader.GetInt64(0), reader.GetGuid(1), reader.GetString(2), await reader.GetFieldValueAsync<byte[]>(3), reader.GetInt32(4),
                MessageHeaders.Read(await reader.IsDBNullAsync(5) ? null : reader.GetString(5)))
            : null;
    }

    public Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages) => SendAsync(messages, isEnlisted: false);

    /// <summary>Sends in the ambient transaction, in which the session was opened.</summary>
    /// <exception cref="SqlException">The server has ended that transaction, or refused.</exception>
    public Task SendEnlistedAsync(IReadOnlyCollection<OutgoingMessage> messages) => SendAsync(messages, isEnlisted: true);

    private async Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages, bool isEnlisted)
    {
        try
        {
            foreach (var message in messages)
            {
                await using var command = InTransaction(MessageCommands.Send(message, isEnlisted));
                await command.ExecuteNonQueryAsync();
            }
        }
        catch
        {
            hasFailedToSend = true;
            throw;
        }
    }

    public async Task RequeueAsync(QueuedMessage message, TimeSpan delay)
    {
        await using var command = Command(statements.Requeue, message);
        command.Add("@delay", SqlDbType.Int, 0, (int)delay.TotalMilliseconds);
        await command.ExecuteNonQueryAsync();
    }

    public async Task MoveToErrorsAsync(QueuedMessage message, Exception reason)
    {
        await using var command = Command(statements.MoveToErrors, message);
        command.Add("@reason", SqlDbType.NVarChar, -1, Failure.Describe(reason));
        await command.ExecuteNonQueryAsync();
    }

    public async Task<QueuedMessage?> TakeAsync(QueuedMessage message)
    {
        await using var command = Command(statements.Take);
        command.Add("@position", SqlDbType.BigInt, 0, message.Position);
        command.Add("@message_id", SqlDbType.UniqueIdentifier, 0, message.MessageId);
        return await command.ExecuteScalarAsync() is int failedAttempts ? message with { FailedAttempts = failedAttempts } : null;
    }

    public bool HasLostTransaction(Exception failure) => failure is InvalidOperationException && IsTransactionLost;

    public ValueTask DisposeAsync() => connection.DisposeAsync();

    private SqlCommand Command(string text) => InTransaction(new SqlCommand(text));

    private SqlCommand InTransaction(SqlCommand command)
    {
        if (IsTransactionLost)
            throw new InvalidOperationException("The receive's transaction must be rolled back, or the server has already rolled it back.");

        (command.Connection, command.Transaction) = (connection, transaction);
        return command;
    }

    private SqlCommand Command(string text, QueuedMessage message)
    {
        var command = Command(text);
        command.Add(message.MessageId, message.Type, message.Body);
        command.AddHeaders(MessageHeaders.Write(message.Headers));
        command.Add("@position", SqlDbType.BigInt, 0, message.Position);
        command.Add("@failed_attempts", SqlDbType.Int, 0, message.FailedAttempts);
        return command;
    }
}
