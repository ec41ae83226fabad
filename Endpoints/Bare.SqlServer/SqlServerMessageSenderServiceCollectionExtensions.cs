using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds a sender to queues in SQL Server.</summary>
public static class SqlServerMessageSenderServiceCollectionExtensions
{
    /// <summary>Adds an <see cref="IMessageSender"/>. It needs no endpoint in the same process, and creates no queue.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="connectionString">The database that holds the queues.</param>
    /// <param name="json">How messages are serialized; by default <see cref="JsonSerializerOptions.Default"/>.</param>
    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    /// <exception cref="InvalidOperationException">There is already a sender.</exception>
    public static IServiceCollection AddSqlServerMessageSender(
        this IServiceCollection services, string connectionString, JsonSerializerOptions? json = null)
    {
        var sender = new SqlServerMessageSender(connectionString, json);
        return services.AddMessageSender(_ => sender);
    }
}
