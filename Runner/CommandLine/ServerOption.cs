using System.CommandLine;
using Kit.Runner.Servers;

namespace Kit.Runner.CommandLine;

/// <summary>Names a server: on the command line, or else in the environment; or else the kit starts its own.</summary>
internal static class ServerOption
{
    public static Option<string?> PostgreSql()
    {
        var option = new Option<string?>("--postgresql")
        {
            Description = $"Connection string of a PostgreSQL server to use, as a role that may create databases; or environment {ConnectionStrings.PostgreSqlVariable}. " +
                          "Without it the kit starts a server of its own.",
            HelpName = "connection string",
            DefaultValueFactory = _ => Variable(ConnectionStrings.PostgreSqlVariable),
        };
        option.NotEmpty();
        return option;
    }

    public static Option<string?> RabbitMq()
    {
        var option = new Option<string?>("--rabbitmq")
        {
            Description = $"URI of a RabbitMQ broker to use, amqp:// or amqps://; or environment {ConnectionStrings.RabbitMqVariable}. " +
                          "Without it the kit starts a broker of its own.",
            HelpName = "uri",
            DefaultValueFactory = _ => Variable(ConnectionStrings.RabbitMqVariable),
        };
        option.NotEmpty();
        return option;
    }

    public static Option<string?> RabbitMqManagement()
    {
        var option = new Option<string?>("--rabbitmq-management")
        {
            Description = $"Address of that broker's management plugin, by default port 15672 of its machine; or environment {ConnectionStrings.RabbitMqManagementVariable}.",
            HelpName = "url",
            DefaultValueFactory = _ => Variable(ConnectionStrings.RabbitMqManagementVariable),
        };
        option.NotEmpty();
        return option;
    }

    public static Option<string?> SqlServer()
    {
        var option = new Option<string?>("--sqlserver")
        {
            Description = $"Connection string of a SQL Server to use, as a login that may create databases; or environment {ConnectionStrings.SqlServerVariable}. " +
                          "Without it the cells on SQL Server are left out: the kit starts none.",
            HelpName = "connection string",
            DefaultValueFactory = _ => Variable(ConnectionStrings.SqlServerVariable),
        };
        option.NotEmpty();
        return option;
    }

    /// <summary>
    /// The PostgreSQL database of a command that works on what is there; never from the environment, which names servers for measurements.
    /// </summary>
    public static Option<string?> ExistingPostgreSql(string description)
    {
        var option = new Option<string?>("--postgresql") { Description = description, HelpName = "connection string" };
        option.NotEmpty();
        return option;
    }

    /// <summary>The same of a RabbitMQ broker.</summary>
    public static Option<string?> ExistingRabbitMq(string description)
    {
        var option = new Option<string?>("--rabbitmq") { Description = description, HelpName = "uri" };
        option.NotEmpty();
        return option;
    }

    /// <summary>
    /// The command as it was typed, without the passwords of servers: they would go into the results and from there anywhere.
    /// </summary>
    public static string Masked(IEnumerable<string> arguments, params IReadOnlyList<string?> servers) => string.Join(
        ' ',
        arguments.Select(argument => servers.OfType<string>().Aggregate(
            argument, (masked, server) => masked.Replace(server, ConnectionStrings.Mask(server), StringComparison.Ordinal))));

    /// <summary>Refuses an empty text, which a variable that is not set gives in a script.</summary>
    public static void NotEmpty(this Option<string?> option) => option.Validators.Add(result =>
    {
        if (result is { Implicit: false, Tokens: [{ Value: var typed }, ..] } && string.IsNullOrWhiteSpace(typed))
            result.AddError($"{option.Name}: expected a {option.HelpName}, found nothing.");
    });

    private static string? Variable(string name) => Environment.GetEnvironmentVariable(name) is { Length: > 0 } named ? named : null;
}
