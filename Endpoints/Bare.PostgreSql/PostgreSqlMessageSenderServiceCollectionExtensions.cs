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
