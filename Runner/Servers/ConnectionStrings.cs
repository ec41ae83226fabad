using System.Data.Common;
using System.Globalization;

namespace Kit.Runner.Servers;

/// <summary>The user's connection strings, and the one place that makes them fit to be shown.</summary>
public static class ConnectionStrings
{
    /// <summary>The environment variable that names the PostgreSQL server to use.</summary>
    public const string PostgreSqlVariable = "KIT_POSTGRESQL";

    private const string Masked = "***";

    /// <summary>The connection string with each password replaced; nothing of one that cannot be read.</summary>
    public static string Mask(string connectionString)
    {
        try
        {
            var settings = new DbConnectionStringBuilder { ConnectionString = connectionString };
            return string.Join(';', settings.Keys.Cast<string>().Select(key => $"{Title(key)}={(IsSecret(key) ? Masked : settings[key])}"));
        }
        catch (ArgumentException)
        {
            return "(a connection string that cannot be read)";
        }
    }

    private static string Title(string key) => CultureInfo.InvariantCulture.TextInfo.ToTitleCase(key);

    // "Password", "SSL Password", and the short forms that drivers take.
    private static bool IsSecret(string key) =>
        key.Contains("password", StringComparison.OrdinalIgnoreCase)
        || key.Equals("pwd", StringComparison.OrdinalIgnoreCase)
        || key.Equals("psw", StringComparison.OrdinalIgnoreCase);
}
