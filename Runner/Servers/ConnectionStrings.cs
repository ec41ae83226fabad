using System.Data.Common;
using System.Globalization;

namespace Kit.Runner.Servers;

/// <summary>The user's connection strings, and their masking before they are shown.</summary>
public static class ConnectionStrings
{
    /// <summary>The option that names the PostgreSQL server to use.</summary>
    public const string PostgreSqlOption = "--postgresql";

    /// <summary>The environment variable for it.</summary>
    public const string PostgreSqlVariable = "KIT_POSTGRESQL";

    /// <summary>The environment variable that names the PostgreSQL server for queues apart from their widgets.</summary>
    public const string QueuePostgreSqlVariable = "KIT_QUEUE_POSTGRESQL";

    /// <summary>The option that names the RabbitMQ broker to use.</summary>
    public const string RabbitMqOption = "--rabbitmq";

    /// <summary>The environment variable for it.</summary>
    public const string RabbitMqVariable = "KIT_RABBITMQ";

    /// <summary>The option with the address of that broker's management plugin.</summary>
    public const string RabbitMqManagementOption = "--rabbitmq-management";

    /// <summary>The environment variable for it.</summary>
    public const string RabbitMqManagementVariable = "KIT_RABBITMQ_MANAGEMENT";

    /// <summary>The environment variable that names the SQL Server to use.</summary>
    public const string SqlServerVariable = "KIT_SQLSERVER";

    private const string Masked = Passwords.Masked;
    private const string Unreadable = "(a connection string that cannot be read)";

    /// <summary>True if an environment variable names a server.</summary>
    public static bool IsNamed(string variable) => Environment.GetEnvironmentVariable(variable) is { Length: > 0 };

    /// <summary>The connection string or AMQP URI with each password masked. One that cannot be read is masked entirely.</summary>
    public static string Mask(string connectionString) => IsAmqp(connectionString) ? MaskUri(connectionString) : MaskSettings(connectionString);

    private static bool IsAmqp(string connectionString) =>
        connectionString.StartsWith("amqp://", StringComparison.OrdinalIgnoreCase)
        || connectionString.StartsWith("amqps://", StringComparison.OrdinalIgnoreCase);

    // By hand: a parser would end a password at a bare / or @, and the rest would be shown as host or path.
    private static string MaskUri(string uri)
    {
        if (!Uri.TryCreate(uri, UriKind.Absolute, out _))
            return Unreadable;
        var start = uri.IndexOf("://", StringComparison.Ordinal) + 3;
        var end = uri.LastIndexOf('@');
        var query = uri.IndexOf('?', Math.Max(start, end));
        var place = query < 0 ? uri[Math.Max(start, end + 1)..] : uri[Math.Max(start, end + 1)..query];
        if (end < 0)
            return uri[..start] + place;
        var user = uri[start..end].Split(':')[0];
        return $"{uri[..start]}{user}{(user.Length == end - start ? "" : ":" + Masked)}@{place}";
    }

    private static string MaskSettings(string connectionString)
    {
        try
        {
            var settings = new DbConnectionStringBuilder { ConnectionString = connectionString };
            return string.Join(';', settings.Keys.Cast<string>().Select(key => $"{Title(key)}={(Passwords.AreNamed(key) ? Masked : settings[key])}"));
        }
        catch (ArgumentException)
        {
            return Unreadable;
        }
    }

    private static string Title(string key) => CultureInfo.InvariantCulture.TextInfo.ToTitleCase(key);
}
