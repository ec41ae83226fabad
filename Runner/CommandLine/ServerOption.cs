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
            DefaultValueFactory = _ => Environment.GetEnvironmentVariable(ConnectionStrings.PostgreSqlVariable) is { Length: > 0 } named ? named : null,
        };
        option.NotEmpty();
        return option;
    }

    /// <summary>Refuses an empty text, which a variable that is not set gives in a script.</summary>
    public static void NotEmpty(this Option<string?> option) => option.Validators.Add(result =>
    {
        if (result is { Implicit: false, Tokens: [{ Value: var typed }, ..] } && string.IsNullOrWhiteSpace(typed))
            result.AddError($"{option.Name}: expected a {option.HelpName}, found nothing.");
    });
}
