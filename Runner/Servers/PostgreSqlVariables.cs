using System.Collections;

namespace Kit.Runner.Servers;

/// <summary>
/// The variables of the user's shell that PostgreSQL's clients read (<c>PGOPTIONS</c>, …). They are meant for the user's server. Sessions of
/// the kit's own are as its settings say.
/// </summary>
public static class PostgreSqlVariables
{
    /// <summary>Removes them from this process, and so from its child processes.</summary>
    public static void Remove()
    {
        foreach (var name in Environment.GetEnvironmentVariables().Cast<DictionaryEntry>().Select(variable => (string)variable.Key))
        {
            if (name.StartsWith("PG", StringComparison.Ordinal))
                Environment.SetEnvironmentVariable(name, null);
        }
    }
}
