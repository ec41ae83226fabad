using Kit.Runner.Results.Points;

namespace Kit.Runner.Wire;

/// <summary>
/// Tells whether a request is a point. Another transaction of the process can have the same statement. So the transaction must have begun as the recorded
/// one did, and the handling must have come as far as the recorded one had.
/// </summary>
internal sealed class MetMoment : IMoment
{
    private const string Awaited = "awaited";

    private readonly Dictionary<(int Before, string Server, string Text, string? Outcome), int> known = [];
    private readonly HashSet<int> points;
    private readonly ILookup<bool, OrderedPoint> ordered;
    private readonly Dictionary<int, int> due;
    private readonly IReadOnlyList<RequestId> leadingRequests;
    private readonly int leading;

    /// <summary>The key that a request counts as, by <see cref="OrderedPoint.KeyWithoutAnswer"/>, while its answer is awaited.</summary>
    private readonly Dictionary<int, int> asAnswered;

    /// <param name="all">In their order.</param>
    public MetMoment(CrashPoint point, IReadOnlyList<CrashPoint> all)
    {
        Point = point;
        // A request that only one of the recorded handlings had, or with another answer each time, is no point.
        points = all.Select(each => Follow(0, each.Request)).ToHashSet();
        var every = all.Select(Ordered).ToList();
        asAnswered = every.DistinctBy(each => each.KeyWithoutAnswer).ToDictionary(each => each.KeyWithoutAnswer, each => each.Key);
        ordered = every.Where(other => other.Point.Number != point.Number && !point.Unordered.Contains(other.Point.Number))
            .ToLookup(other => other.Point.Number < point.Number);
        due = ordered[true].CountBy(other => other.Key).ToDictionary();
        leading = LeadingOf(point);
        leadingRequests = [.. point.Leading.Select(number => all[number - 1].Request)];

        OrderedPoint Ordered(CrashPoint other)
        {
            var (before, (server, text, _, _, _)) = (LeadingOf(other), other.Request);
            return new(other, Follow(before, other.Request), KeyWithoutAnswer(before, server, text));
        }

        int LeadingOf(CrashPoint other) => other.Leading.Aggregate(0, (before, number) => Follow(before, all[number - 1].Request));
    }

    public CrashPoint Point { get; }

    /// <inheritdoc/>
    /// <remarks>The recorded transaction was seen from its beginning.</remarks>
    public bool IsInAnyTransaction => false;

    public bool IsLike(SeenRequest asking) =>
        (Point.Request.Server, Point.Request.Text, Point.HasAnswer) == (asking.Server, asking.Text, asking.Request.HasAnswer);

    public string? WhyNotAnswered(string? outcome) =>
        outcome == Point.Request.Outcome ? null : $"it was answered '{outcome}', and not '{Point.Request.Outcome}' as recorded";

    /// <inheritdoc/>
    /// <remarks>A request that is under way counts as if it were answered as in the recorded handling.</remarks>
    public string? WhyNot(IReadOnlyList<SeenRequest> before, IEnumerable<SeenRequest> others, Func<SeenRequest, bool> isUnderWay)
    {
        if (before.Count != Point.Place - 1)
            return $"it was request {before.Count + 1} of its transaction, and not request {Point.Place}";
        if (before.Count > 0 && before[^1].Text != Point.Before)
            return $"before it was {StatementText.Short(before[^1].Text)}, and not {StatementText.Short(Point.Before!)}";
        if (KeyOf(before) != leading)
            return OtherAnswerIn(before) ?? "another transaction had the request first";

        var passed = CountsOf(others, isUnderWay);
        if (ordered[true].FirstOrDefault(other => CountOf(other) < due[other.Key]) is { } missing)
            return $"the handling had not come to point {missing.Point.Number} yet";

        // One that a poll begins with, too, can have been the poll's.
        return ordered[false].FirstOrDefault(other => !other.Point.IsPolled && CountOf(other) > due.GetValueOrDefault(other.Key)) is { } early
            ? $"the handling had come to point {early.Point.Number} before"
            : null;

        int CountOf(OrderedPoint other) => passed.GetValueOrDefault(other.Key) + passed.GetValueOrDefault(other.KeyWithoutAnswer);
    }

    /// <summary>The number of times that each request came, known by the requests before it in its transaction.</summary>
    private Dictionary<int, int> CountsOf(IEnumerable<SeenRequest> requests, Func<SeenRequest, bool> isUnderWay)
    {
        var counts = new Dictionary<int, int>();
        var transactions = new Dictionary<(int, int), int>();
        foreach (var one in requests)
        {
            var transaction = (one.Connection, one.Request.Transaction);
            var before = transactions.GetValueOrDefault(transaction);
            var isAwaited = isUnderWay(one);
            var key = isAwaited ? KeyWithoutAnswer(before, one.Server, one.Text) : Follow(before, one);
            counts[key] = counts.GetValueOrDefault(key) + 1;
            transactions[transaction] = isAwaited ? asAnswered.GetValueOrDefault(key, before) : KeyOf([one], before);
        }

        return counts;
    }

    /// <summary>The request before it in its transaction that had another answer; <see langword="null"/>: that is not the reason.</summary>
    private string? OtherAnswerIn(IReadOnlyList<SeenRequest> before) =>
        leadingRequests.FirstOrDefault(request => !before.Any(one => (one.Text, one.Request.Outcome) == (request.Text, request.Outcome))) is { } expected
        && before.FirstOrDefault(one => one.Text == expected.Text) is { } other
            ? $"{StatementText.Short(expected.Text)} before it was answered '{other.Request.Outcome}', and not '{expected.Outcome}' as recorded"
            : null;

    private int KeyOf(IEnumerable<SeenRequest> requests, int before = 0) =>
        requests.Where(one => points.Contains(Follow(0, one))).Aggregate(before, Follow);

    private int KeyWithoutAnswer(int before, string server, string text) => Follow(before, server, text, Awaited);

    private int Follow(int before, RequestId request) => Follow(before, request.Server, request.Text, request.Outcome);

    private int Follow(int before, SeenRequest seen) => Follow(before, seen.Server, seen.Text, seen.Request.Outcome);

    /// <summary>The number of a request that came after others, which have a number too; 0: after none.</summary>
    private int Follow(int before, string server, string text, string? outcome)
    {
        known.TryAdd((before, server, text, outcome), known.Count + 1);
        return known[(before, server, text, outcome)];
    }

    /// <summary>A point with its place in its transaction.</summary>
    /// <param name="Key">The point with the requests before it in its transaction.</param>
    /// <param name="KeyWithoutAnswer">The key while its answer is awaited.</param>
    private sealed record OrderedPoint(CrashPoint Point, int Key, int KeyWithoutAnswer);
}
