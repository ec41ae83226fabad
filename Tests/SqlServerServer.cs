using Kit.Runner.Servers;

namespace Kit.Tests;

/// <summary>The SQL Server that the tests use; the kit starts none.</summary>
internal static class SqlServerServer
{
    /// <summary>Its connection string; the test is ignored, with the reason, where none is named.</summary>
    public static string GetOrIgnore()
    {
        var named = Environment.GetEnvironmentVariable(ConnectionStrings.SqlServerVariable);
        if (string.IsNullOrEmpty(named))
            Assert.Ignore($"No SQL Server is named: set {ConnectionStrings.SqlServerVariable} to a connection string of a login that may create databases.");

        return named!;
    }
}
