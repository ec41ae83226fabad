using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Proofs;

/// <summary>
/// One handling of a user's service as a picture: the statements that commit together, the numbers of the points, and what became of the message where the
/// process was killed.
/// </summary>
public sealed class HandlingDrawing
{
    /// <summary>Its file, next to a report.</summary>
    public const string File = "handling.svg";

    /// <summary>How to read it.</summary>
    public const string Legend =
        "Requests in one box commit together, at its thick line. On the right: a kill between two requests, in ways a and b. Other ways are in the tables.";

    /// <summary>Requests that only begin, divide or end a transaction or a connection, or set something.</summary>
    private static readonly HashSet<string> Control = new(StringComparer.OrdinalIgnoreCase)
    {
        "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE", "SET", "RESET", "SHOW", "DISCARD", "DEALLOCATE",
        "LISTEN", "UNLISTEN", "connect", "terminate", "basic.qos", "tx.select", "tx.commit", "tx.rollback", "confirm.select",
    };

    private static readonly HandlingLook Look = new(Strip: null, Outcomes: 200, LabelOf, server => server)
    {
        HasNumbers = true,
        SeveralOf = work => $"{work} (several)",
    };

    private readonly HandlingPicture picture;

    private HandlingDrawing(ProofDocument document) =>
        picture = new HandlingPicture(document.Name, document.Points, requests => OutcomeOf(document, requests), Look);

    /// <summary>In words, for readers who cannot see it.</summary>
    public string Words => picture.Words;

    /// <returns><see langword="null"/> if no point is known.</returns>
    public static HandlingDrawing? Of(ProofDocument document) => document.Points.Count == 0 ? null : new HandlingDrawing(document);

    public void Write(TextWriter output) => output.Write(picture.Svg);

    /// <summary>A statement by what it writes, as far as its text says that; any other one by its text.</summary>
    private static RequestLabel LabelOf(CrashPoint point)
    {
        var text = point.Request.Text;
        var writes = StatementWrites.In(text).Select(write => $"{write.Groups["kind"].Value.ToUpperInvariant()} {write.Groups["table"].Value}").Distinct();
        return new RequestLabel(
            string.Join(" + ", writes) is { Length: > 0 } named ? named : text,
            IsWork: !Control.Contains(text.Split(' ', 2)[0]));
    }

    /// <summary>The worst of the kills after a number of requests and before the next one.</summary>
    private static KillOutcome OutcomeOf(ProofDocument document, int requests)
    {
        var tried = document.Results.Where(result =>
            !result.IsWithoutFault
            && ((result.Point.Number == requests && result.Point.Way == PointWay.Killed)
                || (result.Point.Number == requests + 1 && result.Point.Way == PointWay.NeverSent))).ToList();
        var shown = tried.Where(result => result.HasMetPoint).OrderByDescending(result => result.Verdict is FaultVerdict.Broken)
            .ThenBy(result => result.Class).FirstOrDefault();
        return shown is null ? new KillOutcome(tried.Count > 0 ? "shown nothing" : "not tried", IsRight: null)
            : new KillOutcome(shown.KindAmong(document.Promised), shown.Verdict is FaultVerdict.Kept);
    }
}
