using Kit.Runner.Servers;

namespace Kit.Tests;

/// <summary>One private server for all tests, started when the first of them asks for it.</summary>
public static class PostgreSqlServer
{
    private static readonly Lazy<Task<PrivatePostgreSql>> Server = new(() => PrivatePostgreSql.StartAsync(CancellationToken.None));

    private static readonly Lazy<Task<SpareDatabases>> Spares = new(async () => new SpareDatabases((await GetAsync()).ConnectionString));

    private static readonly Lazy<Task<PrivatePostgreSql>> Second = new(() => PrivatePostgreSql.StartAsync(CancellationToken.None));

    private static readonly Lazy<Task<SpareDatabases>> SparesOfSecond = new(async () => new SpareDatabases((await GetSecondAsync()).ConnectionString));

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

    /// <summary>Another server, for queues apart from their widgets; the test is ignored as above.</summary>
    internal static Task<PrivatePostgreSql> GetSecondAsync()
    {
        IgnoreWithoutPrograms();
        return Second.Value;
    }

    /// <inheritdoc cref="GetSparesAsync"/>
    internal static Task<SpareDatabases> GetSparesOfSecondAsync()
    {
        IgnoreWithoutPrograms();
        return SparesOfSecond.Value;
    }

    public static void IgnoreWithoutPrograms()
    {
        if (Missing is { } reason)
            Assert.Ignore(reason);
    }

    internal static async Task StopAsync()
    {
        foreach (var spares in new[] { Spares, SparesOfSecond }.Where(spares => spares.IsValueCreated))
            await (await spares.Value).DisposeAsync();
        foreach (var server in new[] { Server, Second }.Where(server => server.IsValueCreated))
            await (await server.Value).DisposeAsync();
    }
}
