using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

/// <summary>
/// The points at which the kills of a storm met two-phase commit, as the server showed it after the killed sessions had ended and before another
/// process ran. A kill that met two workers in two windows is counted in both.
/// </summary>
/// <param name="BeforePrepare">A handler had been entered and had not returned; nothing was prepared.</param>
/// <param name="Prepared">A branch was prepared and undecided: recovery rolls it back.</param>
/// <param name="Decided">A branch was prepared and decided: its second phase was outstanding.</param>
/// <param name="NoneOpen">None of these windows: between two messages, between the handler's return and the prepare, or after the second phase.</param>
public sealed record WindowsMet(int BeforePrepare, int Prepared, int Decided, int NoneOpen)
{
    public static WindowsMet None { get; } = new(0, 0, 0, 0);

    /// <summary>Open windows that were met: at least as many messages were met, for two workers in one window count once.</summary>
    public int Met => BeforePrepare + Prepared + Decided;

    /// <summary>A copy with one more kill.</summary>
    public WindowsMet With(bool isBeforePrepare, bool isPrepared, bool isDecided) => new(
        BeforePrepare + (isBeforePrepare ? 1 : 0),
        Prepared + (isPrepared ? 1 : 0),
        Decided + (isDecided ? 1 : 0),
        NoneOpen + (isBeforePrepare || isPrepared || isDecided ? 0 : 1));

    /// <summary>True if the killed process had a handler that had been entered and had not returned.</summary>
    /// <param name="lines">Of the journal, in order.</param>
    /// <param name="after">A moment before the process started: an attempt that an earlier kill left open stays so for ever.</param>
    public static bool IsAHandlerOpen(IEnumerable<AttemptLine> lines, DateTimeOffset after) => lines
        .GroupBy(line => line.MessageId)
        // A failed attempt has not returned, either, and another follows it.
        .Select(message => message.GroupBy(line => line.AttemptId).Last())
        .Any(last => last.Any(line => line.Point is AttemptPoint.Started && line.At > after) && last.All(line => line.Point is not AttemptPoint.Returned));

    public override string ToString() =>
        $"windows met (a kill can meet one for each worker): {BeforePrepare} before prepare, {Prepared} prepared, " +
        $"{Decided} decided (second phase outstanding), {NoneOpen} none open";
}

/// <summary>The absence of an endpoint after each kill of a storm.</summary>
public static class StormRestart
{
    /// <param name="restarts">Start times of a new process after each kill, by this machine's clock. No handler runs at these moments.</param>
    /// <param name="attempts">By the same clock.</param>
    /// <returns>For each restart the milliseconds until the next handler had returned, ascending, even if that was in a later process. A restart after
    /// which none returned is left out.</returns>
    /// <remarks>Any message counts: the time until a certain message is handled would depend on how many are queued in front of it.</remarks>
    public static IReadOnlyList<double> Of(IReadOnlyList<DateTimeOffset> restarts, IEnumerable<AttemptLine> attempts)
    {
        var returned = attempts.Where(line => line is { Point: AttemptPoint.Returned, At: not null }).Select(line => line.At!.Value).Order().ToList();
        return
        [
            .. from restart in restarts
               from next in returned.SkipWhile(at => at < restart).Take(1)
               let milliseconds = Math.Round((next - restart).TotalMilliseconds, 1)
               orderby milliseconds
               select milliseconds,
        ];
    }
}
