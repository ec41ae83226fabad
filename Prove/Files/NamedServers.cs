using Kit.Endpoints.Bare.RabbitMq;
using Npgsql;

namespace Kit.Prove.Files;

/// <summary>The servers that the user names for a measurement. The kit starts those that are not named.</summary>
/// <param name="PostgreSql">Connection string, with the password.</param>
internal sealed record NamedServers(NpgsqlConnectionStringBuilder? PostgreSql, RabbitMqAddress? RabbitMq)
{
    public static NamedServers None { get; } = new(PostgreSql: null, RabbitMq: null);

    /// <summary>The environment variable that names the PostgreSQL server; <see langword="null"/>: it was typed, or is not named.</summary>
    public string? PostgreSqlVariable { get; init; }

    /// <summary>The environment variable that names the broker; <see langword="null"/>: it was typed, or is not named.</summary>
    public string? RabbitMqVariable { get; init; }

    public bool IsAny => PostgreSql is not null || RabbitMq is not null;

    /// <summary>Nothing that is shown or stored has them.</summary>
    public IEnumerable<string> Passwords =>
        new[] { PostgreSql?.Password, RabbitMq?.Password }.OfType<string>().Where(password => password.Length > 0);

    /// <summary>Those that one of some services needs.</summary>
    public NamedServers NeededBy(params IReadOnlyCollection<ProofFile> files) => this with
    {
        PostgreSql = files.Any(file => file.NeedsDatabases) ? PostgreSql : null,
        RabbitMq = files.Any(file => file.NeedsBroker) ? RabbitMq : null,
    };
}
