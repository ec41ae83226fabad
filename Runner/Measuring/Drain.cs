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

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);

    // Failed handlers are not counted as handled, so after a pause the queue itself is asked.
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    /// <summary>Time without a handled message after which messages that no queue has are lost. No longer than the limit of a stall.</summary>
    public TimeSpan Quiet { get; init; } = TimeSpan.FromSeconds(10);

    public async Task<Drained> RunAsync(int messages, CancellationToken cancellationToken)
    {
        var start = CpuSample.Take();
        await target.StartHandlingAsync(messages, cancellationToken);
        var stalled = await WaitUntilEmptyAsync(messages, cancellationToken);
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

    // Without acknowledgements, a broker's queue is empty long before the last handler is entered, and on a busy machine the first ones are slow.
    private bool IsIdle => target.Entered > 0 && target.Entered <= target.Handled + target.Failed;

    private async Task<string?> WaitUntilEmptyAsync(int messages, CancellationToken cancellationToken)
    {
        var (handled, left) = (0, (long)messages);
        var sinceProgress = Stopwatch.StartNew();
        while (true)
        {
            await Task.Delay(Look, cancellationToken);
            target.ThrowIfBroken();
            var handledNow = target.Handled;
            var leftNow = left;
            if (handledNow >= messages || sinceProgress.Elapsed > Pause)
            {
                leftNow = await target.CountAsync(cancellationToken);
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
}
