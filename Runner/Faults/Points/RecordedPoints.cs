using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Faults.Points;

/// <summary>What several undisturbed handlings have in common.</summary>
/// <param name="Points">The points, in the order of the handling.</param>
/// <param name="Polls">Requests during a handling that are no points, because a process without a message makes them, too.</param>
/// <param name="Rare"><inheritdoc cref="Handling.RareIn" path="/summary"/></param>
internal sealed record RecordedPoints(IReadOnlyList<CrashPoint> Points, IReadOnlyList<string> Polls, IReadOnlyList<string> Rare)
{
    private const int MostNamed = 3;

    /// <inheritdoc cref="Handling.PointsOf" path="/param"/>
    /// <exception cref="KitException">Handlings are in a transaction that was open before their message came.</exception>
    public static RecordedPoints Of(IReadOnlyList<Handling> handlings)
    {
        // One of them can meet a poll by chance.
        var hidden = Handling.CommonIn(handlings, handling => handling.HasEndedHidden ? handling.Hidden : []).ToList();
        if (hidden.Count > 0)
        {
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
        return new RecordedPoints(points, polls, [.. Handling.RareIn(handlings).Order(StringComparer.Ordinal)]);
    }
}
