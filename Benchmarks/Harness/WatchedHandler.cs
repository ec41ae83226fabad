using Kit.Endpoints.Bare;
using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Harness;

/// <summary>A drain as <c>run</c> does it: a handler process with its probe, progress, the runner's polling, samples, the display.</summary>
internal sealed class WatchedHandler(HandlerProcesses handlers, HandlerSpec spec, CpuMeter meter) : IContestant
{
    public string QueueName => spec.Cell;

    public string QueueDatabase => spec.Transport;

    public double? OwnPerSecond => null;

    public static async Task<IContestant> StartAsync(HandlerSpec spec, CpuMeter meter, CancellationToken cancellationToken) =>
        new WatchedHandler(await HandlerProcesses.StartAsync(1, spec, cancellationToken), spec, meter);

    public async Task DrainAsync(int messages, IMessageQueue queue, CancellationToken cancellationToken)
    {
        var drained = Console.IsOutputRedirected
            ? await DrainAsync(new Unseen())
            : await TerminalDisplay.ShowAsync(display => DrainAsync(display.Round(spec.Cell, number: 1, spec.Cell, messages)));
        if (drained.Stalled is { } stalled)
            throw new KitException($"The drain stalled: {stalled}.", "Find out what the handlers are waiting for.");

        Task<Drained> DrainAsync(IProgress<int> progress) =>
            new Drain(handlers, queue, Drain.DefaultStallLimit, meter.Around(progress)).RunAsync(messages, cancellationToken);
    }

    public ValueTask DisposeAsync() => handlers.DisposeAsync();
}
