using System.Data;
using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

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

    public async Task<Refusal?> SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        try
        {
            using var standbys = StandbyWait.On(connection);
            // Without a token: a cancelled send could have committed.
            await PostgreSqlStatement.ExecuteAllAsync(connection, [StandbyWait.Setting, QueueStatements.Sending(message)]);
            await standbys.RepeatAsync(cancellationToken);
            return null;
        }
        catch (NpgsqlException refused) when (connection.State == ConnectionState.Open)
        {
            return new Refusal(refused.Message, IsOfTheQueue(refused));
        }
    }

    /// <summary>
    /// Whether it has nothing to do with the message: the table is missing or locked, the role lacks a right (class 42), nobody has subscribed, or the server
    /// lacks a resource. A constraint or a trigger of the table can refuse one message and take the next.
    /// </summary>
    private static bool IsOfTheQueue(NpgsqlException refused) =>
        FailureKinds.OfPostgreSql.IsTimeout(refused)
        || refused is PostgresException answer
        && (NpgsqlErrors.IsShortage(answer)
            || answer.SqlState.StartsWith("42", StringComparison.Ordinal)
            || answer.SqlState == PostgresErrorCodes.NoDataFound);

    public ValueTask DisposeAsync() => connection.DisposeAsync();
}
