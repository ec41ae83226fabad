using System.Diagnostics;
using System.Text.Json;
using Kit.Runner.Databases;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Npgsql;

namespace Kit.Runner.Joining;

/// <summary>
/// The workers of other machines in a run, as the runner sees them. They find the run in a database of its own, which is dropped with this. Only the
/// server's clock says who is there.
/// </summary>
internal sealed class JoinedWorkers : IAsyncDisposable
{
    private static readonly TimeSpan ToLeave = TimeSpan.FromSeconds(5);

    private static readonly string Question = $"""
        UPDATE run SET seen = clock_timestamp();
        UPDATE worker SET ended = CASE WHEN seen < clock_timestamp() - interval '{Figures.Plain((int)JoiningTables.Silence.TotalSeconds)} s'
                THEN 'has vanished: no word from it for {Figures.Plain((int)JoiningTables.Silence.TotalSeconds)} s'
                ELSE 'has vanished: its connection to the database has ended' END
            WHERE ended IS NULL
              AND (seen < clock_timestamp() - interval '{Figures.Plain((int)JoiningTables.Silence.TotalSeconds)} s'
                   OR NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = session));
        DELETE FROM line WHERE from_worker RETURNING id, process, text;
        SELECT number, machine, host, ended FROM worker ORDER BY number;
        DELETE FROM refused RETURNING why;
        """;

    private readonly RunToJoin run;
    private readonly string server;
    private readonly string database;
    private readonly Action<string> note;
    private readonly NpgsqlDataSource source;
    private readonly CancellationTokenSource over = new();
    private readonly Lock changing = new();
    private readonly SortedDictionary<int, Member> members = [];
    private readonly Dictionary<int, JoinedHandler> handlers = [];
    private Exception? failure;
    private Task watching = Task.CompletedTask;
    private int processes;

    private JoinedWorkers(RunToJoin run, string server, Action<string> note)
    {
        (this.run, this.server, this.note) = (run, server, note);
        database = JoiningTables.NewName();
        source = NpgsqlDataSource.Create(EndpointConnections.ForManyUses(InDatabase));
    }

    /// <summary>What the workers are told when the run ends.</summary>
    public string Ending { get; set; } = "stopped";

    /// <summary>Every worker that has joined, in that order.</summary>
    public IReadOnlyList<WorkerFacts> Facts
    {
        get
        {
            lock (changing)
                return [.. members.Values.Select(member => new WorkerFacts(member.Number, member.Host))];
        }
    }

    private string InDatabase => new NpgsqlConnectionStringBuilder(server) { Database = database }.ConnectionString;

    private List<Member> Present
    {
        get
        {
            lock (changing)
                return [.. members.Values.Where(member => member.Ended is null)];
        }
    }

    /// <param name="run">What workers must know of it.</param>
    /// <param name="server">Connection string of the server of the widgets.</param>
    /// <param name="note">Tells the user who joins, leaves or is refused.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    public static async Task<JoinedWorkers> OpenAsync(RunToJoin run, string server, Action<string> note, CancellationToken cancellationToken)
    {
        var workers = new JoinedWorkers(run, server, note);
        try
        {
            await workers.CreateAsync(cancellationToken);
            var listening = new NpgsqlConnection(EndpointConnections.ForRunner(workers.InDatabase));
            await listening.OpenAsync(cancellationToken);
            await listening.ExecuteAsync($"LISTEN {JoiningTables.ToRun}", cancellationToken);
            workers.watching = workers.WatchAsync(listening);
            return workers;
        }
        catch
        {
            await workers.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits until all workers of the run are there, for example a new one instead of one that is gone.</summary>
    /// <exception cref="KitException">They do not come in time, or the database of the workers has failed.</exception>
    public async Task WaitAsync(CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        for (var told = 0; ; await Task.Delay(JoiningTables.Look / 5, cancellationToken))
        {
            if (failure is not null)
            {
                throw new KitException(
                    $"The database of the workers failed: {failure.Message}", "See the server's log; 'run --resume' goes on with the run.", failure);
            }

            var missing = run.Workers - Present.Count;
            if (missing <= 0)
                return;
            if (missing > told)
                note($"Waiting for {Number(missing)}. On another machine, with this build: {run.HowToJoin(server)}");
            told = missing;
            if (watch.Elapsed > run.Patience)
            {
                throw new KitException(
                    $"The run needs {Number(run.Workers)}, and {Number(missing)} did not join within {Figures.Plain((int)run.Patience.TotalSeconds)} s.",
                    "Start one with 'worker --join' on another machine; --wait gives it more time. If rounds are finished, 'run --resume' goes on.");
            }
        }
    }

    /// <summary>The lines of a new handler process: the workers get the processes of a round in turn.</summary>
    /// <param name="number">The number of the process in its round, from 1.</param>
    /// <param name="isTiered">Whether it runs with tiered compilation.</param>
    /// <exception cref="WorkerLostException">No worker is there.</exception>
    public JoinedHandler Handler(int number, bool isTiered)
    {
        lock (changing)
        {
            var present = Present;
            if (present.Count < run.Workers)
                throw new WorkerLostException(WhyGone(members.Values.Last(member => member.Ended is not null)));

            var worker = present[(number - 1) % run.Workers].Number;
            var process = ++processes;
            return handlers[process] = new JoinedHandler(worker, (line, cancellationToken) => SayAsync(worker, process, line, cancellationToken), isTiered);
        }
    }

    /// <summary>Tells the workers that the run has ended, gives them some seconds to leave, and drops the database.</summary>
    public async ValueTask DisposeAsync()
    {
        try
        {
            if (!watching.IsCompleted)
            {
                await ExecuteAsync("UPDATE run SET ended = $1", CancellationToken.None, Ending);
                await ExecuteAsync($"NOTIFY {JoiningTables.ToWorkers}", CancellationToken.None);
                for (var watch = Stopwatch.StartNew(); Present.Count > 0 && watch.Elapsed < ToLeave && !watching.IsCompleted; await Task.Delay(50))
                {
                }
            }
        }
        catch (NpgsqlException)
        {
            // The server is gone, and with it the workers.
        }
        finally
        {
            await over.CancelAsync();
            await watching;
            await source.DisposeAsync();
            over.Dispose();
            await DatabaseOwner.DropAsync(server, database, CancellationToken.None);
        }
    }

    private static string Number(int workers) => workers == 1 ? "1 worker" : $"{Figures.Plain(workers)} workers";

    private static string WhyGone(Member member) => $"worker {Figures.Plain(member.Number)} {member.Ended}";

    private async Task CreateAsync(CancellationToken cancellationToken)
    {
        await using (var outside = new NpgsqlConnection(EndpointConnections.ForRunner(server)))
        {
            await outside.OpenAsync(cancellationToken);
            await outside.ExecuteAsync($"CREATE DATABASE {database}", cancellationToken);
            await outside.ExecuteAsync($"COMMENT ON DATABASE {database} IS '{DatabaseOwner.Comment}'", cancellationToken);
        }

        // All at once: a worker sees none of it, or a run that it can join.
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await using var all = await connection.BeginTransactionAsync(cancellationToken);
        await connection.ExecuteAsync(JoiningTables.Create, cancellationToken);
        await using var begin = new NpgsqlCommand(
            """
            INSERT INTO run (protocol, version, fingerprint, commit, dirty, machine, command, transports, workers)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            connection)
        {
            Parameters =
            {
                new() { Value = run.Build.Protocol },
                new() { Value = run.Build.Version },
                new() { Value = run.Build.Fingerprint },
                new() { Value = (object?)run.Build.Commit?.Id ?? DBNull.Value },
                new() { Value = run.Build.Commit?.Dirty is true },
                new() { Value = Environment.MachineName },
                new() { Value = run.Command },
                new() { Value = run.Transports.ToArray() },
                new() { Value = run.Workers },
            },
        };
        await begin.ExecuteNonQueryAsync(cancellationToken);
        await all.CommitAsync(cancellationToken);
    }

    private async Task SayAsync(int worker, int process, string? line, CancellationToken cancellationToken)
    {
        await using var batch = source.CreateBatch();
        var insert = new NpgsqlBatchCommand("INSERT INTO line (worker, process, from_worker, text) VALUES ($1, $2, false, $3)");
        insert.Parameters.Add(new() { Value = worker });
        insert.Parameters.Add(new() { Value = process });
        insert.Parameters.Add(new() { Value = (object?)line ?? DBNull.Value });
        batch.BatchCommands.Add(insert);
        batch.BatchCommands.Add(new NpgsqlBatchCommand($"NOTIFY {JoiningTables.ToWorkers}"));
        try
        {
            await batch.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (NpgsqlException broken)
        {
            Fail(broken);
        }
    }

    private async Task ExecuteAsync(string statement, CancellationToken cancellationToken, params string[] values)
    {
        await using var command = source.CreateCommand(statement);
        foreach (var value in values)
            command.Parameters.Add(new() { Value = value });
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task WatchAsync(NpgsqlConnection listening)
    {
        await using (listening)
        {
            try
            {
                while (!over.IsCancellationRequested)
                {
                    await LookAsync();
                    await listening.WaitAsync(JoiningTables.Look, over.Token);
                }
            }
            catch (OperationCanceledException) when (over.IsCancellationRequested)
            {
                // The run has ended.
            }
            catch (NpgsqlException broken)
            {
                Fail(broken);
            }
        }
    }

    private async Task LookAsync()
    {
        await using var command = source.CreateCommand(Question);
        await using var reader = await command.ExecuteReaderAsync(over.Token);
        var lines = new List<(long Id, int Process, string? Text)>();
        while (await reader.ReadAsync(over.Token))
            lines.Add((reader.GetInt64(0), reader.GetInt32(1), reader.IsDBNull(2) ? null : reader.GetString(2)));
        await reader.NextResultAsync(over.Token);
        var seen = new List<(Member Member, string Machine)>();
        while (await reader.ReadAsync(over.Token))
        {
            seen.Add((
                new Member(reader.GetInt32(0), JsonSerializer.Deserialize<HostFacts>(reader.GetString(2))!, reader.IsDBNull(3) ? null : reader.GetString(3)),
                reader.GetString(1)));
        }

        await reader.NextResultAsync(over.Token);
        while (await reader.ReadAsync(over.Token))
            note(reader.GetString(0));

        foreach (var (_, process, text) in lines.OrderBy(line => line.Id))
            HandlerOf(process)?.Hear(text);
        foreach (var (member, machine) in seen)
            See(member, machine);
    }

    private JoinedHandler? HandlerOf(int process)
    {
        lock (changing)
            return handlers.GetValueOrDefault(process);
    }

    private void See(Member member, string machine)
    {
        List<JoinedHandler> lost = [];
        lock (changing)
        {
            var before = members.GetValueOrDefault(member.Number);
            members[member.Number] = member;
            if (before is null)
                note($"Worker {Figures.Plain(member.Number)} joined: {machine}, {Figures.Plain(member.Host.Cores)} cores, {member.Host.CpuModel}.");
            if (member.Ended is not null && before?.Ended is null)
            {
                lost = [.. handlers.Values.Where(handler => handler.Worker == member.Number)];
                if (Ending is not RunToJoin.Completed)
                    note($"{char.ToUpperInvariant(WhyGone(member)[0])}{WhyGone(member)[1..]}.");
            }
        }

        foreach (var handler in lost)
            handler.Lose(new WorkerLostException(WhyGone(member)));
    }

    private void Fail(NpgsqlException broken)
    {
        lock (changing)
        {
            failure ??= broken;
            foreach (var handler in handlers.Values)
                handler.Lose(new WorkerLostException($"the database of the workers failed: {broken.Message}"));
        }
    }

    /// <param name="Number">In the order of joining, from 1.</param>
    /// <param name="Host">Its machine.</param>
    /// <param name="Ended">What has happened to it; <see langword="null"/>: it is there.</param>
    private sealed record Member(int Number, HostFacts Host, string? Ended);
}
