using System.Globalization;
using System.Text.RegularExpressions;
using Npgsql;

namespace Kit.Prove.Files;

/// <summary>The values of <c>{{…}}</c> in the texts of a proof file.</summary>
internal sealed partial class Placeholders
{
    public const string PostgreSql = "postgresql";
    public const string Broker = "rabbitmq";
    public const string Calls = "calls";

    private const string IdName = "id";
    private const string Loopback = "127.0.0.1";

    private readonly Dictionary<string, string> values = new(StringComparer.Ordinal);

    private Placeholders(Uri calls, int applicationPort)
    {
        values["port"] = Text(applicationPort);
        values[Calls] = calls.GetLeftPart(UriPartial.Authority);
    }

    /// <summary>The names without the message's id, which each text may have.</summary>
    public IReadOnlyList<string> Names => [.. values.Keys.Select(name => $"{{{{{name}}}}}")];

    /// <param name="databases">The server and the real name of each database, by its name in the file.</param>
    /// <param name="broker"><see langword="null"/>: there is none.</param>
    /// <param name="portOf">The loopback port that leads to a database or to the broker, by its name; without one its own address leads to it.</param>
    /// <param name="calls">The kit's endpoint for calls to the outside.</param>
    public static Placeholders Of(
        IReadOnlyDictionary<string, NpgsqlConnectionStringBuilder> databases, Uri? broker, IReadOnlyDictionary<string, int> portOf, Uri calls,
        int applicationPort)
    {
        var made = new Placeholders(calls, applicationPort);
        foreach (var (name, connection) in databases)
        {
            made.Add(name, portOf.TryGetValue(name, out var port)
                ? new NpgsqlConnectionStringBuilder(connection.ConnectionString) { Host = Loopback, Port = port }
                : connection);
        }

        if (broker is not null)
            made.Add(portOf.TryGetValue(Broker, out var port) ? new UriBuilder(broker) { Host = Loopback, Port = port }.Uri : broker);
        return made;
    }

    /// <summary>Placeholders without servers, to check a file.</summary>
    public static Placeholders Invented(IEnumerable<string> databases, bool hasBroker) => Of(
        databases.Distinct().ToDictionary(name => name, _ => new NpgsqlConnectionStringBuilder { Host = Loopback, Username = "u", Password = "p" }),
        hasBroker ? new Uri("amqp://u:p@localhost:5672/v") : null,
        new Dictionary<string, int>(),
        new Uri("http://localhost"),
        applicationPort: 0);

    public static bool NameABroker(string template) => NameServer(template, Broker);

    /// <summary>True if a text has a placeholder of a server: its name, alone or before a colon.</summary>
    public static bool NameServer(string template, string server) =>
        NamesIn(template).Any(name => name == server || name.StartsWith($"{server}:", StringComparison.Ordinal));

    /// <summary>True if a text has a placeholder whose value has a server's password.</summary>
    public static bool NameAPassword(string template) => NamesIn(template).Any(name =>
        name == Broker || name.EndsWith(":password", StringComparison.Ordinal)
        || (name.StartsWith($"{PostgreSql}:", StringComparison.Ordinal) && name.Split(':') is [_, _] or [_, _, "uri" or "jdbc"]));

    public static bool NameCalls(string template) => NamesIn(template).Contains(Calls);

    /// <summary>The first unknown placeholder; <see langword="null"/> if there is none.</summary>
    public string? UnknownIn(string template) => NamesIn(template).FirstOrDefault(name => name != IdName && !values.ContainsKey(name));

    /// <param name="template">Without unknown names.</param>
    /// <param name="id">Id of the text's message; <see langword="null"/>: none.</param>
    public string Fill(string template, Guid? id = null) => Placeholder().Replace(
        template, match => match.Groups["name"].Value is var name && name == IdName && id is not null ? $"{id}" : values.GetValueOrDefault(name, match.Value));

    private void Add(string database, NpgsqlConnectionStringBuilder connection)
    {
        var name = $"{PostgreSql}:{database}";
        var (user, password) = (Uri.EscapeDataString(connection.Username!), Uri.EscapeDataString(connection.Password ?? ""));
        // That of an IPv6 address has colons.
        var host = Uri.CheckHostName(connection.Host) is UriHostNameType.IPv6 ? $"[{connection.Host}]" : connection.Host!;
        var address = $"{host}:{Text(connection.Port)}/{connection.Database}";
        // The kit's own condition, which drivers before version 8 do not know.
        values[name] = new NpgsqlConnectionStringBuilder(connection.ConnectionString) { SslMode = SslMode.Disable, RequireAuth = null }.ConnectionString;
        values[$"{name}:uri"] = $"postgresql://{user}:{password}@{address}?sslmode=disable";
        values[$"{name}:jdbc"] = $"jdbc:postgresql://{address}?user={user}&password={password}&sslmode=disable";
        values[$"{name}:host"] = connection.Host!;
        values[$"{name}:port"] = Text(connection.Port);
        values[$"{name}:user"] = connection.Username!;
        values[$"{name}:password"] = connection.Password ?? "";
        values[$"{name}:database"] = connection.Database ?? "";
    }

    private void Add(Uri broker)
    {
        var parts = new UriBuilder(broker);
        values[Broker] = broker.AbsoluteUri;
        // That of an IPv6 address without brackets.
        values[$"{Broker}:host"] = broker.DnsSafeHost;
        values[$"{Broker}:port"] = Text(broker.Port);
        values[$"{Broker}:user"] = Uri.UnescapeDataString(parts.UserName);
        values[$"{Broker}:password"] = Uri.UnescapeDataString(parts.Password);
        values[$"{Broker}:vhost"] = Uri.UnescapeDataString(broker.AbsolutePath[1..]);
    }

    private static string Text(int port) => port.ToString(CultureInfo.InvariantCulture);

    private static IEnumerable<string> NamesIn(string template) => Placeholder().Matches(template).Select(match => match.Groups["name"].Value);

    [GeneratedRegex(@"\{\{(?<name>[^{}]*)\}\}", RegexOptions.ExplicitCapture | RegexOptions.NonBacktracking)]
    private static partial Regex Placeholder();
}
