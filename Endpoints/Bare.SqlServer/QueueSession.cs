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

    // The driver runs a command whose transaction the server has ended in autocommit, without a word. And of several sends
    // the first can be in the transaction when the second fails.
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
            ? new QueuedMessage(reader.GetInt64(0), reader.GetGuid(1), reader.GetString(2), await reader.GetFieldValueAsync<byte[]>(3), reader.GetInt32(4))
            : null;
    }

    public async Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages)
    {
        try
        {
            foreach (var message in messages)
            {
                await using var command = Command(QueueStatements.Send(message.Queue));
                Add(command, message.MessageId, message.Type, message.Body);
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
        Add(command, "@delay", SqlDbType.Int, 0, (int)delay.TotalMilliseconds);
        await command.ExecuteNonQueryAsync();
    }

    public async Task MoveToErrorsAsync(QueuedMessage message, Exception reason)
    {
        await using var command = Command(statements.MoveToErrors, message);
        Add(command, "@reason", SqlDbType.NVarChar, -1, Failure.Describe(reason));
        await command.ExecuteNonQueryAsync();
    }

    public async Task<QueuedMessage?> TakeAsync(QueuedMessage message)
    {
        await using var command = Command(statements.Take);
        Add(command, "@position", SqlDbType.BigInt, 0, message.Position);
        return await command.ExecuteScalarAsync() is int failedAttempts ? message with { FailedAttempts = failedAttempts } : null;
    }

    public bool HasLostTransaction(Exception failure) => failure is InvalidOperationException && IsTransactionLost;

    public ValueTask DisposeAsync() => connection.DisposeAsync();

    private SqlCommand Command(string text) => IsTransactionLost
        ? throw new InvalidOperationException("The transaction of the receive is to be rolled back, or the server has done so.")
        : new SqlCommand(text, connection, transaction);

    private SqlCommand Command(string text, QueuedMessage message)
    {
        var command = Command(text);
        Add(command, message.MessageId, message.Type, message.Body);
        Add(command, "@position", SqlDbType.BigInt, 0, message.Position);
        Add(command, "@failed_attempts", SqlDbType.Int, 0, message.FailedAttempts);
        return command;
    }

    private static void Add(SqlCommand command, Guid messageId, string type, byte[] body)
    {
        Add(command, "@message_id", SqlDbType.UniqueIdentifier, 0, messageId);
        Add(command, "@type", SqlDbType.NVarChar, 400, type);
        Add(command, "@body", SqlDbType.VarBinary, -1, body);
    }

    // Sizes of their own, so that the server has one plan for values of every length.
    private static void Add(SqlCommand command, string name, SqlDbType type, int size, object value) =>
        command.Parameters.Add(new SqlParameter(name, type, size) { Value = value });
}
