using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

/// <summary>How long an endpoint needed after each kill or cut until it worked again.</summary>
public static class StormRecovery
{
    /// <param name="faults">When each kill or cut was done, by this machine's clock, and the messages that were sent after it and before the next.
    /// What was sent before can have been pushed to an endpoint that is cut off, and is handled on there.</param>
    /// <param name="attempts">The journal of the handlers, by the same clock.</param>
    /// <returns>For each of them, in milliseconds and ascending: until a handler had run to its end with one of those messages. One that no
    /// handler followed is left out.</returns>
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
