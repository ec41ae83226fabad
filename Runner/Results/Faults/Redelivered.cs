using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

/// <summary>How much of what was done before a server crashed came back.</summary>
/// <param name="Handled">Messages whose handler had returned before the crash. All but the last of each worker were acknowledged as well.</param>
/// <param name="CameBack">Those of them that a handler was given again.</param>
public sealed record Redelivered(int Handled, int CameBack)
{
    /// <param name="attempts">The journal of the handlers.</param>
    /// <param name="crash">The moment before the crash, by the same clock.</param>
    public static Redelivered Of(IEnumerable<AttemptLine> attempts, DateTimeOffset crash)
    {
        var lines = attempts.ToList();
        var handled = lines.Where(line => line.Point is AttemptPoint.Returned && line.At < crash).Select(line => line.MessageId).ToHashSet();
        var again = lines.Where(line => line.Point is AttemptPoint.Started && line.At >= crash).Select(line => line.MessageId).ToHashSet();
        return new Redelivered(handled.Count, handled.Count(again.Contains));
    }

    public override string ToString() =>
        $"{Figures.Count(CameBack)} of the {Figures.Count(Handled)} messages that had been handled were handled again" +
        (Handled > 0 ? $" ({Figures.Share((double)CameBack / Handled)})" : "");
}
