using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;
using Npgsql;

namespace Kit.Benchmarks;

/// <summary>A PostgreSQL server of the benchmark's own, with a seeded template on it.</summary>
internal sealed class BenchmarkServer : IAsyncDisposable
{
    private readonly PrivatePostgreSql server;

    private BenchmarkServer(PrivatePostgreSql server)
    {
        this.server = server;
        Running = new PostgreSqlInUse(new PostgreSqlTransport(), server);
    }

    /// <summary>The same, as rounds use it.</summary>
    public PostgreSqlInUse Running { get; }

    public string ConnectionString => server.ConnectionString;

    public int PostmasterPid => server.PostmasterPid;

    public KitDatabases Databases => Running.Databases;

    public static async Task<BenchmarkServer> StartAsync(int seedRows, TextWriter output, CancellationToken cancellationToken)
    {
        ReleaseBuild.Require();
        PostgreSqlVariables.Remove();
        var started = new BenchmarkServer(await PrivatePostgreSql.StartAsync(ServerPlace.Choose(allowsMemory: false).Path, cancellationToken));
        try
        {
            await output.WriteLineAsync($"PostgreSQL {started.server.Version}, the benchmark's own; seeding {Figures.Count(seedRows)} rows");
            await started.Databases.SeedAsync(seedRows, new Unseen(), cancellationToken);
            return started;
        }
        catch
        {
            await started.DisposeAsync();
            throw;
        }
    }

    /// <summary>Sets a parameter for every session from now on.</summary>
    public async Task SetAsync(string parameter, string value, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(ConnectionString);
        foreach (var statement in new[] { $"ALTER SYSTEM SET {parameter} = {value}", "SELECT pg_reload_conf()" })
        {
            await using var command = source.CreateCommand(statement);
            await command.ExecuteNonQueryAsync(cancellationToken);
        }
    }

    // Its databases are removed with the server.
    public ValueTask DisposeAsync() => server.DisposeAsync();
}

/// <summary>Progress that nobody watches.</summary>
internal sealed class Unseen : IProgress<int>
{
    public void Report(int value)
    {
        // The programs here print a line for each drain.
    }
}
