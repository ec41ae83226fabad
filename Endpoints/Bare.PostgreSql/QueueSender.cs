using System.Data;
using Kit.Endpoints.Bare.Outbox;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Sends to queues in PostgreSQL, each message in its own transaction.</summary>
internal sealed class QueueSender : IOutboxSender
{
    private readonly NpgsqlConnection connection;

    private QueueSender(NpgsqlConnection connection) => this.connection = connection;

    /// <param name="queues">The queues' database.</param>
    /// <param name="unanswered">The receives whose outcome must be known before anything is sent again.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public static async Task<IOutboxSender> OpenAsync(
        DatabaseAccess queues, UnansweredReceives unanswered, CancellationToken cancellationToken)
    {
        var opened = await queues.OpenApartAsync(cancellationToken);
        try
        {
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
            await using var send = new NpgsqlBatch(connection) { BatchCommands = { QueueStatements.Sending(message) } };
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
