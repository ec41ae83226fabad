using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

/// <summary>How long an endpoint needed to recover after each kill or cut.</summary>
public static class StormRecovery
{
    /// <param name="faults">The time of each kill or cut, by this machine's clock, and the messages sent after it and before the next.
    /// Earlier messages may have been prefetched by an endpoint that was cut off, which goes on handling them.</param>
    /// <param name="attempts">The journal of the handlers, by the same clock.</param>
    /// <returns>For each fault the milliseconds until a handler finished one of those messages, ascending. A fault that no handler followed is
    /// left out.</returns>
    public static IReadOnlyList<double> Of(
        IEnumerable<(DateTimeOffset Done, IReadOnlySet<Guid> SentAfter)> faults, IEnumerable<AttemptLine> attempts)
    {
        var handled = attempts.Where(line => line is { Point: AttemptPoint.Returned, At: not null }).ToLookup(line => line.MessageId, line => line.At);
        return
        [
            .. from fault in faults
               let first = fault.SentAfter.SelectMany(message => handled[message]).Min()
               where first is not null
               let milliseconds = Math.Round((first.Value - fault.Done).TotalMilliseconds, 1)
               orderby milliseconds
               select milliseconds,
        ];
    }
}
