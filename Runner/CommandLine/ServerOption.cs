using System.CommandLine;
using Kit.Runner.Servers;

namespace Kit.Runner.CommandLine;

/// <summary>Names a server: on the command line, or else in the environment; or else the kit starts its own.</summary>
internal static class ServerOption
{
    public static Option<string?> PostgreSql() => new("--postgresql")
    {
        Description = $"Connection string of a PostgreSQL server to use, as a role that may create databases; or environment {ConnectionStrings.PostgreSqlVariable}. " +
                      "Without it the kit starts a server of its own.",
        HelpName = "connection string",
        DefaultValueFactory = _ => Environment.GetEnvironmentVariable(ConnectionStrings.PostgreSqlVariable) is { Length: > 0 } named ? named : null,
    };
}
