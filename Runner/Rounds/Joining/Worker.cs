using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds.Joining;

/// <summary>
/// A worker in a run on another machine: runs the handler processes that the run orders, and passes the lines between both. The run decides
/// everything else.
/// </summary>
/// <param name="run">The id of the run's session.</param>
/// <param name="session">Its own session, which ends with it.</param>
/// <param name="arguments">The servers as this machine reaches them.</param>
/// <param name="note">Tells the user what it does.</param>
internal sealed class Worker(int number, RunOffer offer, int run, JoiningSession session, TransportArguments arguments, Action<string> note)
    : IAsyncDisposable
{
    private readonly Dictionary<int, RelayedHandler> handlers = [];
    private bool isLeaving;

    /// <summary>Its number, and the run.</summary>
    public string Seat => $"worker {Figures.Plain(number)}: {offer.Command} (on {offer.Machine})";

    /// <summary>Its processes, and the messages that they have handled.</summary>
    public string Account =>
        $"Messages handled here, warm-ups included: {Figures.Count(handlers.Values.Sum(handler => handler.Handled))}. "
        + $"Handler processes: {Figures.Count(handlers.Count)}.";

    /// <summary>Works until the run has ended.</summary>
    /// <returns>How the run has ended.</returns>
    /// <exception cref="KitException">The run gives no sign any more, or has given this worker up.</exception>
    /// <exception cref="OperationCanceledException">The worker was stopped; the run knows it.</exception>
    public async Task<string> RunAsync(CancellationToken cancellationToken)
    {
        try
        {
            var ending = await RelayAsync(cancellationToken);
            await LeaveAsync("has left: the run has ended");
            return ending;
        }
        catch (OperationCanceledException)
        {
            await LeaveAsync("was stopped with Ctrl+C");
            throw;
        }
        finally
        {
            await EndHandlersAsync();
        }
    }

    public ValueTask DisposeAsync() => session.DisposeAsync();

    private async Task<string> RelayAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            switch (await session.HearAsync(cancellationToken))
            {
                case (var from, ProcessLine line) when from == run:
                    Obey(line.Process, line.Text);
                    break;
                case (var from, RunEnded ended) when from == run:
                    return ended.How ?? throw new KitException(
                        "The run has given this worker up, because it was silent for too long.", "Join again: the run may wait for a worker.");
                case null when session.EndOf(run) is not null:
                    throw new KitException(
                        "The run gives no sign any more: it was killed, or its machine is out of reach.", "See the terminal of the run.");
            }
        }
    }

    private void Obey(int process, string? line)
    {
        if (!handlers.TryGetValue(process, out var handler))
            handlers[process] = handler = new RelayedHandler(arguments, text => Tell(process, text), note);
        handler.Obey(line);
    }

    private void Tell(int process, string? line)
    {
        // The run must hear that the worker leaves, and not that its processes end.
        if (!isLeaving)
            session.Say(run, new ProcessLine(process, line));
    }

    private async Task LeaveAsync(string why)
    {
        await EndHandlersAsync();
        await session.SayLastAsync(run, new WorkerLeft(why));
    }

    private Task EndHandlersAsync()
    {
        isLeaving = true;
        foreach (var handler in handlers.Values)
            handler.Obey(line: null);
        return Task.WhenAll(handlers.Values.Select(handler => handler.Ended));
    }
}
