using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Npgsql;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds a sender to queues in PostgreSQL.</summary>
public static class PostgreSqlMessageSenderServiceCollectionExtensions
{
    /// <summary>Adds an <see cref="IMessageSender"/>. It needs no endpoint in the same process, and creates no queue.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="connectionString">The database that holds the queues.</param>
    /// <param name="json">How messages are serialized; by default <see cref="JsonSerializerOptions.Default"/>.</param>
    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    /// <exception cref="InvalidOperationException">There is already a sender.</exception>
    public static IServiceCollection AddPostgreSqlMessageSender(
        this IServiceCollection services, string connectionString, JsonSerializerOptions? json = null)
    {
        var queues = new DatabaseAccess(connectionString);
        return services.AddMessageSender(_ => new PostgreSqlMessageSender(queues, json));
    }

    /// <summary>
    /// Adds a further <see cref="IMessageSender"/>, for queues in another database. A handler in <c>full-dtc</c> sends with it to queues in the database of a
    /// participant, if it passes the participant's transaction (<see cref="MessageContext.GetTransactionAsync(string, CancellationToken)"/>): the message is
    /// sent if and when the receive commits.
    /// </summary>
    /// <param name="services">The host's services.</param>
    /// <param name="key">The key of the service.</param>
    /// <param name="connectionString">The database that holds the queues.</param>
    /// <param name="json">How messages are serialized; by default <see cref="JsonSerializerOptions.Default"/>.</param>
    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    /// <exception cref="InvalidOperationException">There is already a sender with that key.</exception>
    public static IServiceCollection AddKeyedPostgreSqlMessageSender(
        this IServiceCollection services, object key, string connectionString, JsonSerializerOptions? json = null)
    {
        ArgumentNullException.ThrowIfNull(key);
        var queues = new DatabaseAccess(connectionString);
        return services.AddMessageSender(_ => new PostgreSqlMessageSender(queues, json), key);
    }

    /// <summary>Adds an <see cref="IMessageSender"/> that uses the application's data source. It does not dispose it.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="source">Returns the data source of the database that holds the queues.</param>
    /// <param name="json">How messages are serialized; by default <see cref="JsonSerializerOptions.Default"/>.</param>
    /// <exception cref="InvalidOperationException">There is already a sender.</exception>
    public static IServiceCollection AddPostgreSqlMessageSender(
        this IServiceCollection services, Func<IServiceProvider, NpgsqlDataSource> source, JsonSerializerOptions? json = null)
    {
        ArgumentNullException.ThrowIfNull(source);
        return services.AddMessageSender(provider => new PostgreSqlMessageSender(new DatabaseAccess(source(provider)), json));
    }
}
