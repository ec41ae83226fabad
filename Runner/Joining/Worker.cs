using System.Collections.Concurrent;
using Kit.Runner.Databases;
using Kit.Runner.Results;
using Kit.Runner.Transports;
using Npgsql;

namespace Kit.Runner.Joining;

/// <summary>
/// A worker in a run on another machine: runs the handler processes that the run orders, and passes the lines between both. The run decides
/// everything else.
/// </summary>
/// <param name="seat">Its place in the run.</param>
/// <param name="arguments">The servers as this machine reaches them.</param>
/// <param name="note">Tells the user what it does.</param>
internal sealed class Worker(WorkerSeat seat, TransportArguments arguments, Action<string> note) : IDisposable
{
    private readonly Lock changing = new();
    private readonly ConcurrentDictionary<int, RelayedHandler> handlers = new();
    private readonly List<(int Process, string? Text, bool IsProgress)> unsaid = [];
    private readonly SemaphoreSlim woken = new(0);
    private int handled;
    private int processes;

    /// <summary>How many messages its processes have handled, those of warm-ups included.</summary>
    public int Handled => handled;

    /// <summary>How many handler processes it has run.</summary>
    public int Processes => processes;

    /// <summary>Works until the run has ended.</summary>
    /// <returns>How the run has ended.</returns>
    /// <exception cref="KitException">The run gives no sign any more, or has given this worker up.</exception>
    /// <exception cref="OperationCanceledException">The worker was stopped; the run knows it.</exception>
    public async Task<string> RunAsync(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(EndpointConnections.ForManyUses(seat.Database));
        // Not linked: until the worker has said that it leaves, its session shows that it is there.
        using var over = new CancellationTokenSource();
        var listening = ListenAsync(over.Token);
        try
        {
            var ending = await RelayAsync(source, cancellationToken);
            await LeaveAsync(source, "has left: the run has ended");
            return ending;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await EndHandlersAsync();
            await LeaveAsync(source, "was stopped with Ctrl+C");
            throw;
        }
        catch (NpgsqlException broken)
        {
            throw new KitException(
                $"The connection to the run's database broke: {broken.Message}", "See the terminal of the run, and the server's log.", broken);
        }
        finally
        {
            await EndHandlersAsync();
            await over.CancelAsync();
            await listening;
        }
    }

    public void Dispose() => woken.Dispose();

    private async Task<string> RelayAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        while (true)
        {
            var (lines, ending) = await ExchangeAsync(source, cancellationToken);
            await Task.WhenAll(lines.GroupBy(line => line.Process).Select(own => ObeyAllAsync(own.Key, [.. own.Select(line => line.Text)], cancellationToken)));
            if (ending is not null)
                return ending;
            if (await woken.WaitAsync(JoiningTables.Look, cancellationToken))
                ForgetWakes();
        }
    }

    /// <summary>Says what the processes have said, and reads what the run says to them.</summary>
    private async Task<(IReadOnlyList<(int Process, string? Text)> Lines, string? Ending)> ExchangeAsync(
        NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        var (said, isUrgent) = TakeUnsaid();
        await using var batch = source.CreateBatch();
        Add("UPDATE worker SET seen = clock_timestamp() WHERE number = $1 AND ended IS NULL RETURNING number", seat.Number);
        Add("SELECT ended, seen < clock_timestamp() - $1 FROM run", JoiningTables.Silence);
        Add("DELETE FROM line WHERE worker = $1 AND NOT from_worker RETURNING id, process, text", seat.Number);
        if (said.Count > 0)
        {
            Add(
                """
                INSERT INTO line (worker, process, from_worker, text)
                SELECT $1, process, true, text FROM unnest($2, $3) WITH ORDINALITY AS said (process, text, place) ORDER BY place
                """,
                seat.Number, said.Select(line => line.Process).ToArray(), said.Select(line => line.Text).ToArray());
        }

        if (isUrgent)
            Add($"NOTIFY {JoiningTables.ToRun}");

        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        if (!await reader.ReadAsync(cancellationToken))
            throw new KitException("The run has given this worker up, because it was silent for too long.", "Join again: the run may wait for a worker.");
        await reader.NextResultAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        var ending = await reader.IsDBNullAsync(0, cancellationToken) ? null : reader.GetString(0);
        if (ending is null && reader.GetBoolean(1))
            throw new KitException("The run gives no sign any more: it was killed, or its machine is out of reach.", "See the terminal of the run.");
        await reader.NextResultAsync(cancellationToken);
        var lines = new List<(long Id, int Process, string? Text)>();
        while (await reader.ReadAsync(cancellationToken))
            lines.Add((reader.GetInt64(0), reader.GetInt32(1), await reader.IsDBNullAsync(2, cancellationToken) ? null : reader.GetString(2)));

        return ([.. lines.OrderBy(line => line.Id).Select(line => (line.Process, line.Text))], ending);

        void Add(string statement, params object[] values)
        {
            var command = new NpgsqlBatchCommand(statement);
            foreach (var value in values)
                command.Parameters.Add(new() { Value = value });
            batch.BatchCommands.Add(command);
        }
    }

    /// <summary>Obeys what was said to one process. Several that do not end take no longer than one.</summary>
    private async Task ObeyAllAsync(int process, IReadOnlyList<string?> texts, CancellationToken cancellationToken)
    {
        foreach (var text in texts)
            await ObeyAsync(process, text, cancellationToken);
    }

    private async Task ObeyAsync(int process, string? text, CancellationToken cancellationToken)
    {
        if (handlers.TryGetValue(process, out var handler))
        {
            if (text is not null)
                await handler.SayAsync(text, cancellationToken);
            else
                await EndAsync(process, handler);
        }
        else if (text is not null)
        {
            handlers[process] = handler = new RelayedHandler((line, isProgress) => Say(process, line, isProgress));
            Interlocked.Increment(ref processes);
            await handler.StartAsync(text, arguments, cancellationToken);
        }
    }

    private async Task EndAsync(int process, RelayedHandler handler)
    {
        handlers.TryRemove(process, out _);
        await handler.EndAsync();
        Interlocked.Add(ref handled, handler.HandledInDrains.Sum());
        note(handler.HandledInDrains switch
        {
            [var warmUp, var measured] => $"{handler.Cell}: handled {Messages(measured)}, after {Figures.Count(warmUp)} of the warm-up.",
            [var only] => $"{handler.Cell}: handled {Messages(only)} of the warm-up; the round was ended.",
            _ => $"{handler.Cell}: handled no message; the round was ended.",
        });
    }

    private static string Messages(int count) => count == 1 ? "1 message" : $"{Figures.Count(count)} messages";

    private Task EndHandlersAsync() => Task.WhenAll(handlers.Select(one => EndAsync(one.Key, one.Value)));

    private void Say(int process, string? line, bool isProgress)
    {
        lock (changing)
        {
            // Only the latest is news.
            unsaid.RemoveAll(other => isProgress && other.IsProgress && other.Process == process);
            unsaid.Add((process, line, isProgress));
        }

        if (!isProgress)
            woken.Release();
    }

    // Whatever woke the worker several times is exchanged at once.
    private void ForgetWakes()
    {
        while (woken.Wait(TimeSpan.Zero))
        {
        }
    }

    private (List<(int Process, string? Text)> Lines, bool IsUrgent) TakeUnsaid()
    {
        lock (changing)
        {
            var (lines, isUrgent) = (unsaid.ConvertAll(line => (line.Process, line.Text)), unsaid.Exists(line => !line.IsProgress));
            unsaid.Clear();
            return (lines, isUrgent);
        }
    }

    private async Task ListenAsync(CancellationToken cancellationToken)
    {
        await using (seat.Listening)
        {
            try
            {
                while (true)
                {
                    await seat.Listening.WaitAsync(cancellationToken);
                    woken.Release();
                }
            }
            catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
            {
                // The worker leaves.
            }
            catch (NpgsqlException)
            {
                // The other connection breaks, too, and says why.
            }
        }
    }

    private async Task LeaveAsync(NpgsqlDataSource source, string why)
    {
        try
        {
            await using var command = source.CreateCommand("UPDATE worker SET ended = $2 WHERE number = $1 AND ended IS NULL");
            command.Parameters.Add(new() { Value = seat.Number });
            command.Parameters.Add(new() { Value = why });
            await command.ExecuteNonQueryAsync(CancellationToken.None);
            await using var wake = source.CreateCommand($"NOTIFY {JoiningTables.ToRun}");
            await wake.ExecuteNonQueryAsync(CancellationToken.None);
        }
        catch (NpgsqlException)
        {
            // The run finds out by itself.
        }
    }
}
