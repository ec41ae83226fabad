using System.CommandLine;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Terminal;
using Npgsql;

namespace Kit.Prove.Commands;

/// <summary>The options that name the user's servers, from the command line or else from the environment.</summary>
internal sealed class ServerOptions
{
    private const string WithTls = "amqps";
    private const int DefaultAmqpPort = 5672;

    private const string SslVariable = "PGSSLMODE";

    /// <summary>Ways to log in that send no password in clear.</summary>
    private const string Hashed = "ScramSHA256,MD5,None";

    private static readonly IReadOnlyList<string> Strict = ["require", "verify-ca", "verify-full"];
    private static readonly IReadOnlyList<SslMode> Unencrypted = [SslMode.Disable, SslMode.Allow, SslMode.Prefer];

    private readonly Option<string?> postgreSql = Create(
        ConnectionStrings.PostgreSqlOption,
        "Connection string of your PostgreSQL server, for a role that may create databases; " +
        $"or environment {ConnectionStrings.PostgreSqlVariable}. Without it the kit starts its own server.",
        "connection string");
    private readonly Option<string?> rabbitMq = Create(
        ConnectionStrings.RabbitMqOption,
        "URI of your RabbitMQ broker, for a user who may create virtual hosts; " +
        $"or environment {ConnectionStrings.RabbitMqVariable}. Without it the kit starts its own broker.",
        "uri");
    private readonly Option<string?> management = Create(
        ConnectionStrings.RabbitMqManagementOption,
        "Address of that broker's management plugin, by default port 15672 of its machine; " +
        $"or environment {ConnectionStrings.RabbitMqManagementVariable}.",
        "url");

    /// <summary>The same options for a command that stops requests or crashes: it refuses them.</summary>
    public static IEnumerable<Option> Refused =>
        from name in new[] { ConnectionStrings.PostgreSqlOption, ConnectionStrings.RabbitMqOption, ConnectionStrings.RabbitMqManagementOption }
        select RefusedOption.Create(
            name, "the kit stops requests and crashes services only on servers that it has started. 'drain' and 'load' measure on yours.");

    public void AddTo(Command command)
    {
        foreach (var option in new[] { postgreSql, rabbitMq, management })
            command.Options.Add(option);
    }

    /// <summary>The named servers, also those that no file needs.</summary>
    /// <exception cref="KitException">An address cannot be used. The message does not repeat it.</exception>
    public NamedServers Read(ParseResult parsed) => new(
        TextOf(parsed, postgreSql, ConnectionStrings.PostgreSqlVariable) is { } server ? SettingsIn(server) : null,
        TextOf(parsed, rabbitMq, ConnectionStrings.RabbitMqVariable) is { } broker
            ? Readable(NamedBroker.Parse(broker, TextOf(parsed, management, ConnectionStrings.RabbitMqManagementVariable)))
            : null);

    /// <summary>The named servers that a service needs.</summary>
    /// <inheritdoc cref="Read" path="/exception"/>
    /// <exception cref="KitException">One was typed that it does not need.</exception>
    public NamedServers ReadFor(ProofFile file, ParseResult parsed)
    {
        if (!file.NeedsDatabases && parsed.GetValue(postgreSql) is not null)
            throw Wrong(postgreSql, $"{file.Path} needs no database", "Leave the option out.");
        if (!file.NeedsBroker && parsed.GetValue(rabbitMq) is not null)
            throw Wrong(rabbitMq, $"{file.Path} needs no broker", "Leave the option out.");

        var typed = Read(parsed);
        var named = new NamedServers(file.NeedsDatabases ? typed.PostgreSql : null, file.NeedsBroker ? typed.RabbitMq : null);
        if (named != NamedServers.None && file.Programs.SelectMany(program => program.Command).FirstOrDefault(Placeholders.NameAPassword) is { } shown)
        {
            throw new KitException(
                $"{file.Path}: '{shown}' is part of a command, and every user of this machine could read your server's password in the list of processes.",
                "Give it to the program in 'environment'.")
            { IsUsage = true };
        }

        return named;
    }

    /// <summary>The arguments as typed, without the servers' passwords.</summary>
    public string Masked(ParseResult parsed)
    {
        string?[] servers = [parsed.GetValue(postgreSql), parsed.GetValue(rabbitMq)];
        return string.Join(' ', parsed.Tokens.Select(token => servers.Contains(token.Value) ? Shown(token.Value) : token.Value));
    }

    /// <summary>The typed options without passwords, each with a space before it.</summary>
    public string Again(ParseResult parsed) => string.Concat(
        from option in new[] { postgreSql, rabbitMq, management }
        let typed = parsed.GetValue(option)
        where typed is not null
        select $" {option.Name} {(option == management ? typed : Shown(typed))}");

    private static string Shown(string server) => $"'{ConnectionStrings.Mask(server)}'";

    private static string? TextOf(ParseResult parsed, Option<string?> option, string variable) =>
        parsed.GetValue(option) ?? (ConnectionStrings.IsNamed(variable) ? Environment.GetEnvironmentVariable(variable) : null);

    private NpgsqlConnectionStringBuilder SettingsIn(string typed)
    {
        var settings = PostgreSqlFacts.Parse(typed);
        if (settings.Username is null)
            throw Wrong(postgreSql, "the connection string names no user, and your service is given it", "Add Username=….");
        if (settings.Host!.Contains(',', StringComparison.Ordinal) || Path.IsPathRooted(settings.Host))
            throw Wrong(postgreSql, "expected one host that is reached over TCP", "Name the machine of the primary.");
        if (!Unencrypted.Contains(settings.SslMode))
            throw Encrypted(postgreSql, "leave SSL Mode out");
        if (Environment.GetEnvironmentVariable(SslVariable) is { } wanted && Strict.Contains(wanted))
            throw Encrypted(postgreSql, $"unset {SslVariable}");
        // A server that asks for the password in clear gets none.
        return new NpgsqlConnectionStringBuilder(typed) { SslMode = SslMode.Disable, RequireAuth = Hashed };
    }

    /// <summary>The same broker, with all that the URI leaves out: a service is given each of them.</summary>
    private RabbitMqAddress Readable(RabbitMqAddress broker)
    {
        if (broker.Amqp.Scheme == WithTls)
            throw Encrypted(rabbitMq, "write amqp://");

        var whole = new UriBuilder(broker.Amqp)
        {
            UserName = Uri.EscapeDataString(broker.UserName),
            Password = Uri.EscapeDataString(broker.Password),
        };
        if (whole.Port <= 0)
            whole.Port = DefaultAmqpPort;
        return RabbitMqAddress.Parse(whole.Uri.AbsoluteUri, broker.Management.AbsoluteUri);
    }

    private static KitException Encrypted(Option option, string remedy) => Wrong(
        option, "an encrypted connection is asked for, and the kit's proxy reads none, so the service would not get one",
        $"Name a server that accepts unencrypted connections, and {remedy}.");

    private static Option<string?> Create(string name, string description, string helpName)
    {
        var option = new Option<string?>(name) { Description = description, HelpName = helpName };
        option.NotEmpty();
        return option;
    }

    private static KitException Wrong(Option option, string what, string remedy) => new($"{option.Name}: {what}.", remedy) { IsUsage = true };
}
