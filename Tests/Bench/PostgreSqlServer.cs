using Kit.Runner.Servers;

namespace Kit.Tests;

/// <summary>One private server for all tests, started when the first of them asks for it.</summary>
public static class PostgreSqlServer
{
    private static readonly Lazy<Task<PrivatePostgreSql>> Server = new(() => PrivatePostgreSql.StartAsync(CancellationToken.None));

    private static readonly Lazy<Task<SpareDatabases>> Spares = new(async () => new SpareDatabases((await GetAsync()).ConnectionString));

    /// <summary>Why there is none; <see langword="null"/> where there is one.</summary>
    public static string? Missing { get; } = PostgreSqlBinaries.Folders().Any()
        ? null
        : $"This machine has no PostgreSQL server programs. {InstallableServer.PostgreSql.InstallHint()}";

    /// <summary>The server; the test is ignored, with the reason, on a machine without PostgreSQL's programs.</summary>
    public static Task<PrivatePostgreSql> GetAsync()
    {
        IgnoreWithoutPrograms();
        return Server.Value;
    }

    /// <summary>The databases on it that tests have given back; the test is ignored as above.</summary>
    internal static Task<SpareDatabases> GetSparesAsync()
    {
        IgnoreWithoutPrograms();
        return Spares.Value;
    }

    public static void IgnoreWithoutPrograms()
    {
        if (Missing is { } reason)
            Assert.Ignore(reason);
    }

    internal static async Task StopAsync()
    {
        if (Spares.IsValueCreated)
            await (await Spares.Value).DisposeAsync();
        if (Server.IsValueCreated)
            await (await Server.Value).DisposeAsync();
    }
}
