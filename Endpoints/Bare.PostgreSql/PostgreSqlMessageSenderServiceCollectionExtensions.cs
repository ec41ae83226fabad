using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Npgsql;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds a sender into queues in PostgreSQL.</summary>
public static class PostgreSqlMessageSenderServiceCollectionExtensions
{
    /// <summary>Adds an <see cref="IMessageSender"/>. It needs no endpoint in its process, and creates no queue.</summary>
    /// <param name="services">The host's.</param>
    /// <param name="connectionString">The database that holds the queues.</param>
    /// <param name="json">How messages are written: as <see cref="JsonSerializerOptions.Default"/> says when not given.</param>
    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    /// <exception cref="InvalidOperationException">There is a sender already.</exception>
    public static IServiceCollection AddPostgreSqlMessageSender(
        this IServiceCollection services, string connectionString, JsonSerializerOptions? json = null)
    {
        var queues = new DatabaseAccess(connectionString);
        return services.AddMessageSender(_ => new PostgreSqlMessageSender(queues, json));
    }

    /// <summary>The same on a data source of the application's, which it does not dispose.</summary>
    /// <param name="services">The host's.</param>
    /// <param name="source">Gives the data source of the database that holds the queues.</param>
    /// <param name="json">How messages are written: as <see cref="JsonSerializerOptions.Default"/> says when not given.</param>
    /// <exception cref="InvalidOperationException">There is a sender already.</exception>
    public static IServiceCollection AddPostgreSqlMessageSender(
        this IServiceCollection services, Func<IServiceProvider, NpgsqlDataSource> source, JsonSerializerOptions? json = null)
    {
        ArgumentNullException.ThrowIfNull(source);
        return services.AddMessageSender(provider => new PostgreSqlMessageSender(new DatabaseAccess(source(provider)), json));
    }
}
