using Kit.Endpoints.Bare;
using Kit.Runner.Measuring;
using Kit.Runner.Results;

namespace Kit.Runner.Stage;

/// <summary>The handler processes of one round, which receive from one queue.</summary>
internal sealed class HandlerProcesses : ITarget, IAsyncDisposable
{
    private readonly IReadOnlyList<HandlerProcess> all;
    private readonly IMessageQueue queue;

    private HandlerProcesses(IReadOnlyList<HandlerProcess> all, IMessageQueue queue) => (this.all, this.queue) = (all, queue);

    /// <summary>Process ids on this machine; <see langword="null"/>: they are on other machines.</summary>
    public IReadOnlyList<int>? Ids => all.All(process => process.IsLocal) ? [.. all.Select(process => process.Id)] : null;

    /// <summary>Handlers that were entered since <see cref="StartHandlingAsync"/>; up to a quarter of a second old.</summary>
    public int Entered => all.Sum(process => process.Entered);

    /// <summary>Handlers that returned since then.</summary>
    public int Handled => all.Sum(process => process.Handled);

    /// <summary>Handlers that threw since then.</summary>
    public int Failed => all.Sum(process => process.Failed);

    /// <summary>Called when <see cref="Handled"/> is new; it must be quick.</summary>
    public Action? Progressed
    {
        set
        {
            foreach (var process in all)
                process.Progressed = value;
        }
    }

    /// <summary>The managed heaps of all together after their last collections, in bytes; <see langword="null"/>: one has not told.</summary>
    public long? HeapBytes => all.Select(process => process.HeapBytes).Aggregate((long?)0, (sum, bytes) => sum + bytes);

    /// <summary>True if <see cref="ThrowIfBroken"/> would throw.</summary>
    public bool IsBroken => all.Any(process => process.IsBroken);

    /// <summary>The outcome if one of several processes has handled nothing; <see langword="null"/>: each has handled something, or there is one.</summary>
    public static RoundOutcome? OutcomeOfIdle(IReadOnlyList<int> handledByEach) =>
        handledByEach.Count > 1 && handledByEach.Contains(0) ? RoundOutcome.Invalid(["one of the processes has handled nothing"]) : null;

    /// <param name="queue">The queue that they receive from, on a connection of the runner's.</param>
    /// <param name="start">Starts the process of a number, from 1, elsewhere; <see langword="null"/>: this machine runs them all.</param>
    /// <exception cref="KitException">One does not start.</exception>
    /// <exception cref="WorkerLostException">A worker is gone.</exception>
    public static async Task<HandlerProcesses> StartAsync(
        int count, HandlerSpec spec, IMessageQueue queue, CancellationToken cancellationToken, bool isTiered = false, Func<int, IHandlerLines>? start = null)
    {
        var starting = Enumerable.Range(1, count)
            .Select(number => HandlerProcess.StartAsync(
                start is null ? LocalHandler.Start(isTiered) : start(number), spec with { Process = number }, cancellationToken))
            .ToList();
        try
        {
            return new HandlerProcesses(await Task.WhenAll(starting), queue);
        }
        catch
        {
            foreach (var started in starting.Where(task => task.IsCompletedSuccessfully))
                await (await started).DisposeAsync();
            throw;
        }
    }

    /// <summary>Builds a new endpoint in each process and starts it.</summary>
    /// <param name="messages">Messages that wait for them; 0 if unknown.</param>
    /// <exception cref="KitException">A process broke.</exception>
    /// <exception cref="WorkerLostException">A worker is gone.</exception>
    public Task StartHandlingAsync(int messages, CancellationToken cancellationToken) =>
        Task.WhenAll(all.Select(process => process.StartEndpointAsync(messages, cancellationToken)));

    /// <summary>Stops the endpoints after their current messages, and closes their connections.</summary>
    /// <returns>A report of each process.</returns>
    /// <exception cref="KitException">A process broke, or does not stop within a minute.</exception>
    /// <exception cref="WorkerLostException">A worker is gone.</exception>
    public async Task<IReadOnlyList<DrainReport>> StopHandlingAsync(CancellationToken cancellationToken) =>
        await Task.WhenAll(all.Select(process => process.StopEndpointAsync(cancellationToken)));

    /// <exception cref="KitException">A process has ended unexpectedly or reported a failure.</exception>
    /// <exception cref="WorkerLostException">A worker is gone.</exception>
    public void ThrowIfBroken()
    {
        foreach (var process in all)
            process.ThrowIfBroken();
    }

    public Task<long> CountAsync(CancellationToken cancellationToken) => queue.CountAsync(cancellationToken);

    /// <summary>Ends the processes, and kills those that do not end.</summary>
    public async ValueTask DisposeAsync() => await Task.WhenAll(all.Select(process => process.DisposeAsync().AsTask()));
}
