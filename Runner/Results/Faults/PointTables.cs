using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Faults;

/// <summary>The outcomes of the messages that met the points of a handling.</summary>
internal static class PointTables
{
    private const string Points = "points";
    private const string Experiments = "experiments";
    private const string Met = "met";

    /// <summary>A line for each cell.</summary>
    /// <param name="document">Has the points.</param>
    public static GuaranteeTable Of(FaultDocument document, IReadOnlyList<FaultResult> met)
    {
        var axes = CellName.AxesOf(met.Select(result => result.Cell));
        var ways = PointWays.All.Where(way => document.AllWays.Contains(way.Way)).ToList();
        return new(
            "Every point: a crash around each request of a handling",
            [.. axes, Points, Experiments, Met, .. ways.Select(way => way.Header)],
            [
                .. from cell in met.GroupBy(result => result.Cell)
                   let points = PointsOf(document, cell.Key)
                   select (IReadOnlyList<string>)
                   [
                       .. axes.Select(axis => cell.Key.On(axis, document.Implied) ?? Figures.None),
                       Figures.Count(points.Count), Figures.Count(ExperimentsAt(points, document)), Figures.Count(cell.Count(IsMet)),
                       .. ways.Select(way => ClassesOf(cell.Where(result => result.Point!.Way == way.Way))),
                   ],
            ],
            "A point is the gap around one request of an undisturbed handling. " +
            LegendOf("A point is met in those of these ways that are possible there", ways.Where(way => !way.CrashesServer)) +
            LegendOf(
                "In these ways all processes of the server are killed, it is started again, and the client's process lives",
                ways.Where(way => way.CrashesServer)) +
            (ways.Exists(way => way.Way is PointWay.Unanswered) ? $"A request without an answer has no {PointWay.Unanswered.Facts().Letter}. " : "") +
            "Met counts the experiments whose handling came to the point. The rule of three does not apply: these are all points, and not a sample.");
    }

    /// <summary>The outcomes for a page, all ways together.</summary>
    /// <inheritdoc cref="Of" path="/param"/>
    public static (IReadOnlyList<string> Headers, IEnumerable<IReadOnlyList<string>> Rows) BriefOf(FaultDocument document, IReadOnlyList<FaultResult> met) =>
    (
        ["Cell", Points, Experiments, Met, "The message was"],
        from cell in met.GroupBy(result => result.Cell)
        let points = PointsOf(document, cell.Key)
        select (IReadOnlyList<string>)
        [
            $"{cell.Key}", Figures.Count(points.Count),
            Figures.Count(ExperimentsAt(points, document)), Figures.Count(cell.Count(IsMet)), ClassesOf(cell),
        ]);

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

    private static string LegendOf(string before, IEnumerable<PointWayFacts> ways) =>
        ways.Select(way => $"({way.Letter}) {way.Legend}").ToList() is { Count: > 0 } legends ? $"{before}: {string.Join("; ", legends)}. " : "";

    private static string SentenceOf(FaultDocument document, CellName cell, IReadOnlyList<FaultResult> met)
    {
        var points = PointsOf(document, cell);
        var unknown = points.Count(point => !point.CanBeProved);
        return $"{cell}: {Figures.Count(points.Count)} points, {Figures.Count(ExperimentsAt(points, document))} experiments, " +
            $"{Figures.Count(met.Count(IsMet))} met: {ClassesOf(met)}"
            + (unknown > 0 ? $"; not determined after {Figures.Count(unknown)} requests, because nothing shows whether the server has acted" : "");
    }

    private static int ExperimentsAt(IEnumerable<CrashPoint> points, FaultDocument document) => points.Sum(point => point.WaysAmong(document.AllWays).Count);

    private static IReadOnlyList<CrashPoint> PointsOf(FaultDocument document, CellName cell) => document.Points?.GetValueOrDefault($"{cell}") ?? [];

    private static string HowBroken(FaultResult result) => result.Verdict is not FaultVerdict.Broken ? ""
        : result.Observed.All(seen => result.Promised.Contains(seen.Class)) ? "; a message after it broke the promise"
        : ", which is not promised";

    private static bool IsMet(FaultResult result) => result is { Verdict: FaultVerdict.Kept or FaultVerdict.Broken, IsWithoutFault: false };

    private static bool IsOnce(FaultResult result) =>
        result.Verdict is FaultVerdict.Kept && result.Observed is [{ Class: DeliveryClass.Once or DeliveryClass.Recovered }];

    /// <summary><c>15 once, 3 duplicated, 1 VOID</c>.</summary>
    private static string ClassesOf(IEnumerable<FaultResult> results)
    {
        var kinds = results.GroupBy(result => VerdictText.Of(result.Verdict, () => ClassOf(result), () => $"≠ {ClassOf(result)}"));
        var counts = kinds.OrderByDescending(kind => kind.Count()).ThenBy(kind => kind.Key, StringComparer.Ordinal)
            .Select(kind => $"{Figures.Count(kind.Count())} {kind.Key}").ToList();
        return counts.Count == 0 ? Figures.None : string.Join(", ", counts);
    }

    private static string ClassOf(FaultResult result) => Words.Of(result.Observed.Select(seen => seen.Class));
}
