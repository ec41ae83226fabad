using Kit.Runner.Servers;

namespace Kit.Tests;

/// <summary>The SQL Server that the tests use; the kit starts none. Cases that need it exist where one is named.</summary>
internal static class SqlServerServer
{
    /// <summary>Its connection string; <see langword="null"/> where none is named.</summary>
    public static string? Named { get; } =
        Environment.GetEnvironmentVariable(ConnectionStrings.SqlServerVariable) is { Length: > 0 } named ? named : null;

    /// <summary>Why there is none; <see langword="null"/> where there is one.</summary>
    public static string? Missing => Named is null
        ? $"No SQL Server is named: set {ConnectionStrings.SqlServerVariable} to a connection string of a login that may create databases."
        : null;

    /// <summary>The one that is named, as the argument of a test. It holds a password, and stays out of the test's name.</summary>
    public static IEnumerable<TestCaseData> Cases => Named is null ? [] : [new TestCaseData(Named).SetArgDisplayNames("named server")];
}
