using Kit.Runner.Results;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Faults.Points;

/// <summary>The common points of several undisturbed handlings.</summary>
/// <remarks>A handling in a transaction that was open before its message came is not used: its requests there cannot be told from a poll.</remarks>
/// <param name="Points">In the order of the handling.</param>
/// <param name="Polls">Requests during a handling that are no points, because a process without a message makes them, too.</param>
/// <param name="Rare"><inheritdoc cref="Handling.RareIn" path="/summary"/></param>
internal sealed record RecordedPoints(IReadOnlyList<CrashPoint> Points, IReadOnlyList<string> Polls, IReadOnlyList<string> Rare)
{
    private const int MostNamed = 3;
    private const int Needed = 3;

    /// <summary>The most handlings that are recorded. At least half are usable, or there are too few.</summary>
    private const int Most = 2 * Needed;

    /// <summary>Requests that the process made once, after its messages had been handled. They are no points.</summary>
    public IReadOnlyList<string> Late { get; init; } = [];

    /// <summary>Handlings that were not used.</summary>
    public int Unused { get; init; }

    /// <summary>The requests that are not tried, with the reasons, as the ends of sentences.</summary>
    /// <param name="rare">Requests in which handlings differ.</param>
    /// <param name="late">See <see cref="Late"/>.</param>
    /// <param name="unused">See <see cref="Unused"/>.</param>
    public static IEnumerable<string> NotTried(IReadOnlyList<string> rare, IReadOnlyList<string> late, int unused)
    {
        if (rare.Count > 0)
            yield return $"not tried, because the {Needed} handlings differ in them: {string.Join(", ", rare)}";
        if (late.Count > 0)
            yield return $"not tried, because they came only after a message was handled: {string.Join(", ", late)}";
        if (unused > 0)
            yield return $"not tried: what is done with a message that comes in the open transaction of a poll, as {Figures.Count(unused)} of the recorded did";
    }

    /// <summary>True if no more handlings are needed.</summary>
    public static bool AreEnough(IReadOnlyList<Handling> handlings) =>
        handlings.Count(handling => !handling.IsHidden) == Needed || handlings.Count == Most;

    /// <param name="all">At least one.</param>
    /// <param name="late">See <see cref="Late"/>; <see langword="null"/>: none.</param>
    /// <exception cref="KitException">Most handlings are in a transaction that was open before their message came.</exception>
    public static RecordedPoints Of(IReadOnlyList<Handling> all, IReadOnlyList<string>? late = null)
    {
        // A message can meet a poll by chance.
        List<Handling> handlings = [.. all.Where(handling => !handling.IsHidden)];
        if (all.Count > 2 * handlings.Count)
        {
            var hidden = all.Where(handling => handling.IsHidden).SelectMany(handling => handling.Hidden).Distinct().ToList();
            throw new KitException(
                "The message is handled in a transaction that was open before it came, and what happens there cannot be told from a poll: " +
                string.Join(", ", hidden.Take(MostNamed).Select(request => Handling.NameOf(request.Server, request.Text))) +
                (hidden.Count > MostNamed ? " …" : "."),
                "Let the application end the transaction of a poll that finds nothing: with autocommit, or with a rollback.")
            { IsUsage = true };
        }

        var points = Handling.PointsOf(handlings);
        // A poll that finds a message has the same requests as one that finds none, and is a point.
        var named = points.Select(point => Handling.NameOf(point.Request.Server, point.Request.Text)).ToHashSet();
        List<string> polls = [.. handlings.SelectMany(handling => handling.Polls).Distinct().Except(named).Order(StringComparer.Ordinal)];
        return new RecordedPoints(points, polls, [.. Handling.RareIn(handlings).Order(StringComparer.Ordinal)])
        {
            Late = [.. (late ?? []).Except(named).Order(StringComparer.Ordinal)],
            Unused = all.Count - handlings.Count,
        };
    }
}
