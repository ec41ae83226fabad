using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Faults.Points;

/// <summary>What several undisturbed handlings have in common.</summary>
/// <param name="Points">The points, in the order of the handling.</param>
/// <param name="Polls">Requests during a handling that are no points, because a process without a message makes them, too.</param>
internal sealed record RecordedPoints(IReadOnlyList<CrashPoint> Points, IReadOnlyList<string> Polls)
{
    private const int MostNamed = 3;

    /// <inheritdoc cref="Handling.PointsOf" path="/param"/>
    /// <exception cref="KitException">Each handling is in a transaction that was open before its message came.</exception>
    public static RecordedPoints Of(IReadOnlyList<Handling> handlings)
    {
        var hidden = handlings.Skip(1).Aggregate(handlings[0].Hidden, (common, handling) => [.. common.Intersect(handling.Hidden)]);
        if (hidden.Count > 0)
        {
            throw new KitException(
                "The message is handled in a transaction that was open before it came, and what happens there cannot be told from a poll: " +
                string.Join(", ", hidden.Take(MostNamed).Select(request => $"{request.Text} ({request.Server})")) + (hidden.Count > MostNamed ? " …" : "."),
                "Let the application end the transaction of a poll that finds nothing: with autocommit, or with a rollback.")
            { IsUsage = true };
        }

        var points = Handling.PointsOf(handlings);
        // A poll that finds a message has the same requests as one that finds none, and is a point.
        return new RecordedPoints(
            points,
            [
                .. handlings.SelectMany(handling => handling.Polls).Except(points.Select(point => Handling.NameOf(point.Request.Server, point.Request.Text)))
                    .Order(StringComparer.Ordinal),
            ]);
    }
}
