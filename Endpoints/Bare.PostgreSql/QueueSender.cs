using System.Data;
using Kit.Endpoints.Bare.Outbox;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Sends into queues in PostgreSQL, each message in a transaction of its own.</summary>
internal sealed class QueueSender : IOutboxSender
{
    private readonly NpgsqlConnection connection;

    private QueueSender(NpgsqlConnection connection) => this.connection = connection;

    /// <summary>Past the endpoint's pool: its workers can hold every connection of that for as long as they run.</summary>
    /// <param name="connectionString">The queues' database.</param>
    /// <param name="unanswered">What must be known before anything is sent again.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public static async Task<IOutboxSender> OpenAsync(
        string connectionString, UnansweredReceives unanswered, CancellationToken cancellationToken)
    {
        var unpooled = new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false, Enlist = false };
        var opened = new NpgsqlConnection(unpooled.ConnectionString);
        try
        {
            await opened.OpenAsync(cancellationToken);
            await unanswered.ResolveAsync(opened, cancellationToken);
            return new QueueSender(opened);
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    public async Task<string?> SendAsync(OutgoingMessage message)
    {
        try
        {
            await using var send = new NpgsqlCommand(QueueStatements.Send(message.Queue), connection);
            send.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = message.MessageId });
            send.Parameters.Add(new NpgsqlParameter<string> { TypedValue = message.Type });
            send.Parameters.Add(new NpgsqlParameter<byte[]> { TypedValue = message.Body });
            await send.ExecuteNonQueryAsync();
            return null;
        }
        catch (NpgsqlException refused) when (connection.State == ConnectionState.Open)
        {
            return refused.Message;
        }
    }

    public ValueTask DisposeAsync() => connection.DisposeAsync();
}
