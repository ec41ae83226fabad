using System.Data;
using System.Data.Common;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Lends a connection in the mode's transaction, and holds sends back until the handler has succeeded.</summary>
internal sealed class LentWork(NpgsqlConnection connection, NpgsqlTransaction transaction) : IWork
{
    private readonly List<OutgoingMessage> sends = [];

    public Exception? Refusal => null;

    /// <summary>Runs the handler and returns the messages that it sent.</summary>
    /// <exception cref="InvalidOperationException">The handler closed the connection.</exception>
    public static async Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(
        MessagePipeline pipeline, ReceivedMessage message, NpgsqlConnection connection, NpgsqlTransaction transaction, CancellationToken cancellationToken)
    {
        var work = new LentWork(connection, transaction);
        await pipeline.HandleAsync(message, work, cancellationToken);
        RequireOpen(connection);
        return work.sends;
    }

    public static void RequireOpen(NpgsqlConnection connection)
    {
        if (connection.State != ConnectionState.Open)
            throw new InvalidOperationException("The handler closed the connection that the endpoint had lent it, which rolled back its work.");
    }

    public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbConnection>(connection);

    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbTransaction?>(transaction);

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }
}
