using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Measuring;

/// <summary>One load, of which something is known whenever it ends.</summary>
/// <param name="name">What is loaded.</param>
/// <param name="length">Duration of the sending.</param>
internal sealed class LoadAttempt(CellName name, LoadShape shape, TimeSpan length)
{
    // A stopped load still has to say what became of its messages: it waits for them, and then needs time for their account.
    private static readonly TimeSpan ToAccount = 2 * LoadDriver.ToHandle;

    /// <summary>What sends the messages, when it is there.</summary>
    public LoadDriver? Driver { get; set; }

    /// <summary>A failure before the <see cref="Driver"/> is there is thrown, and no outcome.</summary>
    public bool ThrowsBeforeDriver { get; init; }

    /// <summary>Runs it. A failure becomes the outcome.</summary>
    /// <param name="load">Completes the result that it is given. Its token ends the account, some time after a stop.</param>
    /// <param name="stop">Ends the sending. Messages sent by then are handled and accounted for.</param>
    /// <exception cref="OperationCanceledException">It was stopped before the first message was sent.</exception>
    public async Task<LoadResult> RunAsync(Func<LoadResult, CancellationToken, Task<LoadResult>> load, CancellationToken stop)
    {
        var blank = new LoadResult
        {
            Cell = name,
            Rate = (shape as OpenLoad)?.Rate,
            Users = (shape as ClosedLoad)?.Users,
            Outcome = RoundOutcome.Error("it did not get that far"),
        };
        using var end = new CancellationTokenSource();
        await using var last = stop.Register(() => end.CancelAfter(ToAccount));
        try
        {
            return await load(blank, end.Token);
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            return Unfinished(RoundOutcome.Stalled($"it was stopped, and its account was not complete within {ToAccount.TotalSeconds} s"));
        }
        catch (Exception failure) when (IsOutcome(failure))
        {
            return Unfinished(RoundOutcome.Error(KitException.TextOf(failure)));
        }

        bool IsOutcome(Exception failure) =>
            (Driver is not null || !ThrowsBeforeDriver) && (failure is not OperationCanceledException || !stop.IsCancellationRequested);

        // What is known of a load that failed before its account.
        LoadResult Unfinished(RoundOutcome outcome) => blank with
        {
            IsStopped = stop.IsCancellationRequested,
            Sent = Driver?.Sent ?? 0,
            Seconds = Math.Round(Math.Min(length.TotalSeconds, Driver?.Elapsed.TotalSeconds ?? 0), 3),
            Outcome = outcome,
        };
    }

    /// <summary>Adds how busy the processors were while it was sent, where the system tells.</summary>
    /// <param name="own">Ids of the processes that belong to it; this one always does.</param>
    public static LoadResult WithCpu(LoadResult result, CpuSample? before, CpuSample? after, IEnumerable<int> own)
    {
        if (before is null || after is null)
            return result;

        var others = CpuUse.Between(before, after, new HashSet<int>([Environment.ProcessId, .. own]));
        return result with
        {
            OtherCpuShare = Math.Round(others.OthersShare, 3),
            BusiestOther = others.Busiest?.Name,
            CpuShare = Math.Round(CpuUse.BusyBetween(before, after), 3),
        };
    }
}
