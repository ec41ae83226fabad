using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

/// <summary>The number of messages handled before a crash of a server that were handled again after it.</summary>
/// <param name="Returned">Messages whose handler had returned before the crash. The endpoint may not have committed the last one of each worker.</param>
/// <param name="Again">Handled messages for which a handler was entered after the crash. An endpoint that stores ids enters none.</param>
public sealed record HandledAgain(int Returned, int Again)
{
    /// <param name="crash">The moment before it, by the clock of the journal.</param>
    public static HandledAgain Of(IEnumerable<AttemptLine> attempts, DateTimeOffset crash)
    {
        var lines = attempts.ToList();
        var returned = lines.Where(line => line.Point is AttemptPoint.Returned && line.At < crash).Select(line => line.MessageId).ToHashSet();
        var entered = lines.Where(line => line.Point is AttemptPoint.Started && line.At >= crash).Select(line => line.MessageId).ToHashSet();
        return new HandledAgain(returned.Count, returned.Count(entered.Contains));
    }

    /// <summary>Messages for which a handler was entered after another attempt at them had returned.</summary>
    public static int CountIn(IEnumerable<AttemptLine> attempts) => attempts.GroupBy(line => line.MessageId).Count(lines =>
        lines.Where(line => line.Point is AttemptPoint.Returned).Min(line => line.At) is { } returned
        && lines.Any(line => line.Point is AttemptPoint.Started && line.At > returned));

    public override string ToString() =>
        $"{Figures.Count(Again)} of the {Figures.Count(Returned)} messages whose handler had returned were handled again" +
        (Returned > 0 ? $" ({Figures.Share((double)Again / Returned)})" : "");
}
