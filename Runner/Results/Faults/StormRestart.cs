using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

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
