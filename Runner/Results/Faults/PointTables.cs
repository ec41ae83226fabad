using Kit.Guarantees;

namespace Kit.Runner.Results.Faults;

/// <summary>What became of the messages that met the points of a handling.</summary>
internal static class PointTables
{
    private const string Points = "points";
    private const string Experiments = "experiments";
    private const string Met = "met";

    private static readonly IReadOnlyList<(string Header, PointWay Way)> Ways =
    [
        ("a: never sent, killed", PointWay.NeverSent), ("b: executed, killed", PointWay.Killed),
        ("c: executed, cut", PointWay.Cut), ("d: never answered", PointWay.Unanswered),
    ];

    /// <summary>A line for each cell.</summary>
    /// <param name="document">Has the points.</param>
    /// <param name="met">The results of experiments at points.</param>
    public static GuaranteeTable Of(FaultDocument document, IReadOnlyList<FaultResult> met)
    {
        var axes = CellName.AxesOf(met.Select(result => result.Cell));
        return new(
            "Every point: a crash around each request of a handling",
            [.. axes, Points, Experiments, Met, .. Ways.Select(way => way.Header)],
            [
                .. from cell in met.GroupBy(result => result.Cell)
                   let points = PointsOf(document, cell.Key)
                   select (IReadOnlyList<string>)
                   [
                       .. axes.Select(axis => cell.Key.On(axis, document.Implied) ?? Figures.None),
                       Figures.Count(points.Count), Figures.Count(points.Sum(point => point.Ways.Count)), Figures.Count(cell.Count(IsMet)),
                       .. Ways.Select(way => ClassesOf(cell.Where(result => result.Point!.Way == way.Way))),
                   ],
            ],
            "A point is the gap around one request of an undisturbed handling. Each is met in up to four ways: " +
            "(a) the request never reaches the server, and the process is killed; (b) the server has acted, its answer is withheld, and the process is " +
            "killed; (c) as b, and the connection is cut; (d) as b, and the answer never comes. A request without an answer has no d. " +
            "Met counts the experiments whose handling came to the point. The rule of three does not apply: these are all points, and not a sample.");
    }

    public static bool IsFigure(string header) => header is Points or Experiments or Met;

    /// <summary>The cells in one sentence each, and the points at which a message was not handled once.</summary>
    public static IEnumerable<(string Title, IReadOnlyList<string> Lines)> ListsOf(FaultDocument document, IReadOnlyList<FaultResult> met)
    {
        if (met.Count == 0)
            yield break;

        yield return ("Every point", [.. met.GroupBy(result => result.Cell).Select(cell => SentenceOf(document, cell.Key, [.. cell]))]);
        var others = met.Where(result => IsMet(result) && !IsOnce(result)).ToList();
        if (others.Count > 0)
        {
            yield return ("Points at which the message was not handled once", [.. others.Select(result =>
                $"{result.Name}: {result.Point!.Moment}: {Words.Of(result.Observed.Select(seen => seen.Class))}"
                + HowBroken(result))]);
        }
    }

    private static string SentenceOf(FaultDocument document, CellName cell, IReadOnlyList<FaultResult> met)
    {
        var points = PointsOf(document, cell);
        var unknown = points.Count(point => point.Ways.Count == 1);
        return $"{cell}: {Figures.Count(points.Count)} points, {Figures.Count(points.Sum(point => point.Ways.Count))} experiments, " +
            $"{Figures.Count(met.Count(IsMet))} met: {ClassesOf(met)}"
            + (unknown > 0 ? $"; not determined after {Figures.Count(unknown)} requests, because nothing shows whether the server has acted" : "");
    }

    private static IReadOnlyList<CrashPoint> PointsOf(FaultDocument document, CellName cell) => document.Points?.GetValueOrDefault($"{cell}") ?? [];

    private static string HowBroken(FaultResult result) => result.Verdict is not FaultVerdict.Broken ? ""
        : result.Observed.All(seen => result.Promised.Contains(seen.Class)) ? "; a message after it broke the promise"
        : ", which is not promised";

    private static bool IsMet(FaultResult result) => result.Verdict is FaultVerdict.Kept or FaultVerdict.Broken;

    private static bool IsOnce(FaultResult result) =>
        result.Verdict is FaultVerdict.Kept && result.Observed is [{ Class: DeliveryClass.Once or DeliveryClass.Recovered }];

    /// <summary><c>15 once, 3 duplicated, 1 VOID</c>.</summary>
    private static string ClassesOf(IEnumerable<FaultResult> results)
    {
        var kinds = results.GroupBy(result => result.Verdict switch
        {
            FaultVerdict.Void => "VOID",
            FaultVerdict.Failed => "FAILED",
            FaultVerdict.Broken => $"≠ {ClassOf(result)}",
            _ => ClassOf(result),
        });
        var counts = kinds.OrderByDescending(kind => kind.Count()).ThenBy(kind => kind.Key, StringComparer.Ordinal)
            .Select(kind => $"{Figures.Count(kind.Count())} {kind.Key}").ToList();
        return counts.Count == 0 ? Figures.None : string.Join(", ", counts);
    }

    private static string ClassOf(FaultResult result) => Words.Of(result.Observed.Select(seen => seen.Class));
}
