using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Runner.Faults.Experiments;

/// <summary>The servers of the experiments: always the kit's own, because they are made to crash.</summary>
internal sealed class FaultServers : IAsyncDisposable
{
    private readonly PrivatePostgreSql postgreSql;

    private FaultServers(PrivatePostgreSql postgreSql, RunBroker? broker)
    {
        this.postgreSql = postgreSql;
        Broker = broker;
    }

    public string PostgreSql => postgreSql.ConnectionString;

    public string PostgreSqlVersion => postgreSql.Version.ToString();

    /// <summary><see langword="null"/> where no cell needs one.</summary>
    public RunBroker? Broker { get; }

    /// <summary>What opens the place of a cell's queues.</summary>
    public RoundSettings Rounds => new(
        new RunSettings(Messages: 0, Rounds: 0, Concurrency: 0, SeedRows: 0, WarmUp: 0, OrderSeed: 0, Quick: false),
        ClockSource.CommitTimestamps, postgreSql.PostmasterPid, Broker);

    /// <exception cref="KitException">A server does not start.</exception>
    public static async Task<FaultServers> StartAsync(bool withBroker, CancellationToken cancellationToken)
    {
        var database = await PrivatePostgreSql.StartAsync(cancellationToken);
        try
        {
            return new FaultServers(database, withBroker ? await RunBroker.OpenAsync(named: null, cancellationToken) : null);
        }
        catch
        {
            await database.DisposeAsync();
            throw;
        }
    }

    /// <summary>Ends a server as a crash would, and starts it again.</summary>
    /// <returns>What shows it.</returns>
    public async Task<string> CrashAsync(bool broker, CancellationToken cancellationToken)
    {
        if (broker)
        {
            var processes = string.Join(", ", Broker!.Processes ?? []);
            await Broker.CrashAsync(cancellationToken);
            return $"the broker (process {processes}) was killed and started again";
        }

        var before = postgreSql.PostmasterPid;
        await postgreSql.StopImmediatelyAsync(cancellationToken);
        await postgreSql.RestartAsync(cancellationToken);
        // What this process had pooled is broken.
        NpgsqlConnection.ClearAllPools();
        return $"the database server (process {before}) was stopped without a checkpoint; process {postgreSql.PostmasterPid} recovered";
    }

    /// <summary>Ends the database server as a crash would, and starts it again after a time.</summary>
    /// <returns>What shows it.</returns>
    public async Task<string> StayAwayAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        await postgreSql.StopImmediatelyAsync(cancellationToken);
        await Task.Delay(time, cancellationToken);
        await postgreSql.RestartAsync(cancellationToken);
        NpgsqlConnection.ClearAllPools();
        return $"the database server was away for {time.TotalSeconds} s; process {postgreSql.PostmasterPid} recovered";
    }

    public async ValueTask DisposeAsync()
    {
        if (Broker is not null)
            await Broker.DisposeAsync();
        await postgreSql.DisposeAsync();
    }
}
