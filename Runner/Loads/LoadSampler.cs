using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Loads;

/// <summary>Samples the endpoint's processes and the servers every few seconds while messages are sent.</summary>
/// <param name="handlers">On this machine.</param>
/// <param name="databases">Connection strings of the round's databases, each once.</param>
internal sealed class LoadSampler(
    CellName cell, HandlerProcesses handlers, IMessageQueue queue, IReadOnlyList<string> databases, Action<LoadSample> save)
{
    private const string EndpointsConnections =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = ANY($1) AND application_name = $2";

    private const string Tables =
        """
        SELECT coalesce(sum(n_dead_tup), 0)::bigint, coalesce(sum(autovacuum_count), 0)::bigint,
               coalesce(sum(pg_total_relation_size(relid)) FILTER (WHERE relname <> 'widget'), 0)::bigint,
               coalesce(sum(pg_total_relation_size(relid)) FILTER (WHERE relname = 'widget'), 0)::bigint
        FROM pg_stat_user_tables
        """;

    private const string Wal = "SELECT coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()";

    private static readonly TimeSpan Shortest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(10);

    private readonly List<LoadSample> samples = [];

    /// <summary>The samples in the order of time.</summary>
    public IReadOnlyList<LoadSample> Samples => samples;

    /// <summary>Takes samples until it is stopped, 180 of them in a load of half an hour.</summary>
    /// <param name="length">Planned duration of the load.</param>
    /// <param name="stop">Ends it. A sample that is being taken is still kept.</param>
    public async Task RunAsync(TimeSpan length, Func<int> sent, CancellationToken stop)
    {
        var watch = Stopwatch.StartNew();
        var processes = new List<Process>();
        var every = length / 180;
        every = every < Shortest ? Shortest : every > Longest ? Longest : every;
        try
        {
            foreach (var id in handlers.Ids!)
                processes.Add(Process.GetProcessById(id));
            do
            {
                var sample = await TakeAsync(new LoadSample(cell, Math.Round(watch.Elapsed.TotalSeconds, 3), sent()), processes);
                samples.Add(sample);
                save(sample);
                await Task.Delay(every, stop).ContinueWith(_ => { }, TaskScheduler.Default);
            }
            while (!stop.IsCancellationRequested);
        }
        finally
        {
            processes.ForEach(process => process.Dispose());
        }
    }

    private async Task<LoadSample> TakeAsync(LoadSample sample, IReadOnlyList<Process> processes)
    {
        sample = OfProcesses(sample, processes);
        try
        {
            sample = sample with { Queued = await queue.CountAsync(CancellationToken.None) };
            // All databases or none: a sum without one of them would look like a fall.
            var whole = sample;
            foreach (var (database, at) in databases.Select((database, at) => (database, at)))
                whole = await OfDatabaseAsync(whole, database, isFirst: at == 0);
            return whole;
        }
        catch (Exception silent) when (silent is NpgsqlException or HttpRequestException or BrokerException)
        {
            // A load of hours does not fail because a server did not answer once. Messages that fail for the same reason are counted.
            return sample;
        }
    }

    private LoadSample OfProcesses(LoadSample sample, IReadOnlyList<Process> processes)
    {
        try
        {
            foreach (var process in processes)
                process.Refresh();
            return sample with
            {
                WorkingSetBytes = processes.Sum(process => process.WorkingSet64),
                Threads = processes.Sum(process => process.Threads.Count),
                HeapBytes = handlers.HeapBytes,
            };
        }
        catch (InvalidOperationException)
        {
            // One has ended. Its load fails with the reason.
            return sample;
        }
    }

    private async Task<LoadSample> OfDatabaseAsync(LoadSample sample, string database, bool isFirst)
    {
        await using var connection = new NpgsqlConnection(database);
        await connection.OpenAsync(CancellationToken.None);
        await using (var command = new NpgsqlCommand(Tables, connection))
        await using (var row = await command.ExecuteReaderAsync(CancellationToken.None))
        {
            await row.ReadAsync(CancellationToken.None);
            sample = sample with
            {
                DeadRows = (sample.DeadRows ?? 0) + row.GetInt64(0),
                Autovacuums = (sample.Autovacuums ?? 0) + row.GetInt64(1),
                QueueBytes = (sample.QueueBytes ?? 0) + row.GetInt64(2),
                WidgetBytes = (sample.WidgetBytes ?? 0) + row.GetInt64(3),
            };
        }

        // The server has one log, and knows the sessions of all its databases.
        return isFirst
            ? sample with
            {
                Connections = await CountConnectionsAsync(connection),
                WalBytes = await ScalarAsync(new NpgsqlCommand(Wal, connection)),
            }
            : sample;
    }

    private async Task<long> CountConnectionsAsync(NpgsqlConnection connection)
    {
        var command = new NpgsqlCommand(EndpointsConnections, connection);
        command.Parameters.Add(new NpgsqlParameter<string[]>
        {
            TypedValue = [.. databases.Select(each => new NpgsqlConnectionStringBuilder(each).Database!)],
        });
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = EndpointConnections.Name });
        return await ScalarAsync(command);
    }

    private static async Task<long> ScalarAsync(NpgsqlCommand command)
    {
        await using (command)
            return (long)(await command.ExecuteScalarAsync(CancellationToken.None))!;
    }
}
