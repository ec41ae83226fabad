using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Measuring;

/// <summary>The result of one drain.</summary>
/// <param name="Stalled">The reason why the drain was ended before the queue was empty; <see langword="null"/> if it was not.</param>
/// <param name="Start">Processor times of the machine before it.</param>
/// <param name="End">Processor times of the machine after it.</param>
internal sealed record Drained(DrainReport Report, string? Stalled, CpuSample? Start, CpuSample? End)
{
    /// <summary>Handled messages per process.</summary>
    public IReadOnlyList<int> HandledByEach { get; init; } = [];

    /// <summary>The reason why not every message was handled; <see langword="null"/>: a handler has returned once for each.</summary>
    public string? WhyIncomplete(int messages) => Stalled ?? RoundAccount.WhyNotOnceEach(Report.Handled, messages);
}

/// <summary>Lets a target empty its queue, and gives up if there is no progress.</summary>
/// <param name="stallLimit">Time for which a drain may go without progress.</param>
internal sealed class Drain(ITarget target, TimeSpan stallLimit, IProgress<int> progress)
{
    /// <summary>Longer than a checkpoint or a lock timeout delays a healthy endpoint.</summary>
    public static readonly TimeSpan DefaultStallLimit = TimeSpan.FromSeconds(30);

    /// <summary>
    /// The limit for the first drain of a process, which has yet to build its endpoint, connect and compile: on a busy machine that was seen to take more than
    /// a minute, and it is not on the clock.
    /// </summary>
    public static readonly TimeSpan WarmUpStallLimit = TimeSpan.FromMinutes(3);

    /// <summary>The time for <see cref="Quiet"/> if nobody sets it.</summary>
    public static readonly TimeSpan DefaultQuiet = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);

    // Failed handlers are not counted as handled, so after a pause the queue itself is asked.
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    /// <summary>Time without a handled message after which messages that no queue has are lost. No longer than the limit of a stall.</summary>
    public TimeSpan Quiet { get; init; } = DefaultQuiet;

    public async Task<Drained> RunAsync(int messages, CancellationToken cancellationToken)
    {
        var start = CpuSample.Take();
        await target.StartHandlingAsync(messages, cancellationToken);
        var stalled = await UntilEmptyAsync(messages, cancellationToken, cancellationToken);
        var end = CpuSample.Take();
        try
        {
            var reports = await target.StopHandlingAsync(cancellationToken);
            return new Drained(DrainReport.Of(reports), stalled, start, end) { HandledByEach = [.. reports.Select(report => report.Handled)] };
        }
        catch (KitException failure) when (stalled is not null)
        {
            // The same cause can keep the endpoint from stopping; the verdict is still that the drain stalled.
            return new Drained(DrainReport.Nothing, $"{stalled}; {failure.Message}", start, end);
        }
    }

    /// <summary>Waits until that many messages are handled and the queue is empty.</summary>
    /// <param name="noLonger">Ends the waiting, but no count of the queue.</param>
    /// <param name="end">Ends a count, too: a server need not answer.</param>
    /// <returns>The reason why it gave up; <see langword="null"/> if it did not.</returns>
    public async Task<string?> UntilEmptyAsync(int messages, CancellationToken noLonger, CancellationToken end)
    {
        var (handled, left) = (0, (long)messages);
        var sinceProgress = Stopwatch.StartNew();
        while (true)
        {
            await Task.Delay(Look, noLonger);
            target.ThrowIfBroken();
            var handledNow = target.Handled;
            var leftNow = left;
            if (handledNow >= messages || sinceProgress.Elapsed > Pause)
            {
                leftNow = await target.CountAsync(end);
                if (leftNow == 0 && (handledNow >= messages || (IsIdle && sinceProgress.Elapsed > Quiet)))
                {
                    progress.Report(handledNow);
                    return null;
                }
            }

            if (handledNow != handled || leftNow != left)
            {
                (handled, left) = (handledNow, leftNow);
                progress.Report(handled);
                sinceProgress.Restart();
            }
            else if (sinceProgress.Elapsed > stallLimit)
            {
                return $"no progress for {stallLimit.TotalSeconds} s with {left} messages left";
            }
        }
    }

    // Without acknowledgements, a broker's queue is empty long before the last handler is entered, and on a busy machine the first ones are slow.
    private bool IsIdle => target.Entered > 0 && target.Entered <= target.Handled + target.Failed;
}

/// <summary>Observations of a handler process between the endpoint's start and stop.</summary>
/// <param name="Entries">Number of times that a handler was entered.</param>
/// <param name="Handled">Number of times that a handler returned.</param>
/// <param name="CompletionsUtc">Time at which the handler of each message returned, if it was to be recorded.</param>
/// <param name="Promotions">Transactions that were promoted to a distributed one since the first entry.</param>
internal sealed record DrainReport(
    DateTimeOffset? FirstEntryUtc, int Entries, int Handled,
    IReadOnlyList<DateTimeOffset> CompletionsUtc, int Promotions)
{
    /// <summary>Time from each decision to the end of its second phase; <see langword="null"/> in modes without one.</summary>
    public Durations? SecondPhase { get; init; }

    /// <summary>Durations from the receive of a batch to its commit; <see langword="null"/> without batches.</summary>
    public Durations? Batch { get; init; }

    /// <summary>The time of a message by phase; <see langword="null"/> if the endpoint measures none of it.</summary>
    public ServiceTime? ServiceTime { get; init; }

    /// <summary>True if one handler waited until all other messages were handled; <see langword="null"/>: none had to.</summary>
    public bool? OneHasWaited { get; init; }

    public static DrainReport Nothing { get; } = new(FirstEntryUtc: null, Entries: 0, Handled: 0, CompletionsUtc: [], Promotions: 0);

    /// <summary>The reports of several processes as one. Durations are left out: the quantiles of all do not follow from those of each.</summary>
    public static DrainReport Of(IReadOnlyList<DrainReport> reports) => reports is [var only]
        ? only
        : new(
            reports.Min(report => report.FirstEntryUtc), reports.Sum(report => report.Entries), reports.Sum(report => report.Handled),
            [.. reports.SelectMany(report => report.CompletionsUtc)], reports.Sum(report => report.Promotions));
}
