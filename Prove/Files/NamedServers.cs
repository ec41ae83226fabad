using Kit.Endpoints.Bare.RabbitMq;
using Npgsql;

namespace Kit.Prove.Files;

/// <summary>The servers that the user names for a measurement. The kit starts those that are not named.</summary>
/// <param name="PostgreSql">Connection string, with the password.</param>
internal sealed record NamedServers(NpgsqlConnectionStringBuilder? PostgreSql, RabbitMqAddress? RabbitMq)
{
    public static NamedServers None { get; } = new(PostgreSql: null, RabbitMq: null);

    /// <summary>Nothing that is shown or stored has them.</summary>
    public IEnumerable<string> Passwords =>
        new[] { PostgreSql?.Password, RabbitMq?.Password }.OfType<string>().Where(password => password.Length > 0);
}
