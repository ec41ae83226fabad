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

    /// <summary>The passwords of the named servers, also of those that no file needs, or that cannot be used.</summary>
    public IEnumerable<string> PasswordsIn(ParseResult parsed) =>
    [
        .. PasswordIn(PostgreSqlIn(parsed).Text, text => PostgreSqlFacts.Parse(text).Password),
        .. PasswordIn(RabbitMqIn(parsed).Text, text => NamedBroker.Parse(text, management: null).Password),
    ];

    /// <summary>The named servers that one of some services needs.</summary>
    /// <exception cref="KitException">
    /// An address cannot be used (the message does not repeat it), a server was typed that none of them needs, or a file would show its password, or change
    /// more of it than a database.
    /// </exception>
    public NamedServers ReadFor(ParseResult parsed, params IReadOnlyList<ProofFile> files)
    {
        var (needsDatabases, needsBroker) = (files.Any(file => file.NeedsDatabases), files.Any(file => file.NeedsBroker));
        var (server, broker) = (PostgreSqlIn(parsed), RabbitMqIn(parsed));
        // One from the environment can be meant for another command.
        var named = new NamedServers(
            server.Text is not null && (needsDatabases || server.Variable is null) ? SettingsIn(server.Text) : null,
            broker.Text is not null && (needsBroker || broker.Variable is null)
                ? Readable(NamedBroker.Parse(broker.Text, TextOf(parsed, management, ConnectionStrings.RabbitMqManagementVariable).Text))
                : null)
        {
            PostgreSqlVariable = server.Variable,
            RabbitMqVariable = broker.Variable,
        };
        if (named.PostgreSql is not null && !needsDatabases)
            throw Wrong(postgreSql, $"{files[0].Path} needs no database", "Leave the option out.");
        if (named.RabbitMq is not null && !needsBroker)
            throw Wrong(rabbitMq, $"{files[0].Path} needs no broker", "Leave the option out.");
        if (named.RabbitMq is null && parsed.GetValue(management) is not null)
        {
            throw Wrong(
                management, "it is that of a broker, and none is named that the service needs", $"Name one with {rabbitMq.Name}, or leave the option out.");
        }

        foreach (var file in files)
            Require(file, named.NeededBy(file));
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

    /// <exception cref="KitException">A file would show a server's password, or change more of it than a database.</exception>
    private static void Require(ProofFile file, NamedServers named)
    {
        if (named.IsAny && file.Programs.SelectMany(program => program.Command).FirstOrDefault(Placeholders.NameAPassword) is { } shown)
        {
            throw new KitException(
                $"{file.Path}: '{file.Secrets.Mask(shown)}' is part of a command, and every user of this machine could read your server's password in the " +
                "list of processes.",
                "Give it to the program in 'environment'.")
            { IsUsage = true };
        }

        if (named.PostgreSql is not null && file.Setup.Select(setup => setup.Sql).FirstOrDefault(WholeServer.IsChangedBy) is { } real)
        {
            var from = named.PostgreSqlVariable ?? ConnectionStrings.PostgreSqlOption;
            throw new KitException(
                $"{file.Path}: a statement of 'setup' changes more than the kit's databases, and the server is yours ({from}): " +
                file.Secrets.Mask(real),
                $"Execute it there yourself and take it out of a copy of the file; or leave {from} out, and the kit starts its own server.")
            { IsUsage = true };
        }
    }

    private static string Shown(string server) => $"'{ConnectionStrings.Mask(server)}'";

    private static IEnumerable<string> PasswordIn(string? text, Func<string, string?> read)
    {
        if (text is null)
            return [];

        try
        {
            return read(text) is { Length: > 0 } password ? [password] : [];
        }
        catch (KitException)
        {
            // Whoever needs the server reports that.
            return Passwords.In(text);
        }
    }

    private Named PostgreSqlIn(ParseResult parsed) => TextOf(parsed, postgreSql, ConnectionStrings.PostgreSqlVariable);

    private Named RabbitMqIn(ParseResult parsed) => TextOf(parsed, rabbitMq, ConnectionStrings.RabbitMqVariable);

    private static Named TextOf(ParseResult parsed, Option<string?> option, string variable) =>
        parsed.GetValue(option) is { } typed ? new Named(typed, Variable: null)
        : ConnectionStrings.IsNamed(variable) ? new Named(Environment.GetEnvironmentVariable(variable), variable)
        : new Named(Text: null, Variable: null);

    private NpgsqlConnectionStringBuilder SettingsIn(string typed)
    {
        var settings = PostgreSqlFacts.Parse(typed);
        if (settings.Username is null || settings.Password is null)
            throw Wrong(postgreSql, "the connection string has no user or no password, and your service is given both", "Add Username=…;Password=….");
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

    /// <param name="Text">An address as the user wrote it; <see langword="null"/>: none.</param>
    /// <param name="Variable">The environment variable that has it; <see langword="null"/>: it was typed.</param>
    private sealed record Named(string? Text, string? Variable);
}
