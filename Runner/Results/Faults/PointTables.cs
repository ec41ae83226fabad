using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Faults;

/// <summary>The outcomes of the messages that met the points of a handling.</summary>
internal static class PointTables
{
    /// <summary>A line for each cell.</summary>
    public static Table Of(FaultDocument document, IReadOnlyList<FaultResult> met)
    {
        var axes = CellName.AxesOf(met.Select(result => result.Cell));
        var ways = PointWays.All.Where(way => document.AllWays.Contains(way.Way)).ToList();
        return Table.Of(
            [
                .. GuaranteeTables.AxesOf<IGrouping<CellName, FaultResult>>(axes, cell => cell.Key, document),
                .. CountsOf(document),
                .. ways.Select(way => new Column<IGrouping<CellName, FaultResult>>(
                    way.Header, cell => ClassesOf(cell.Where(result => result.Point!.Way == way.Way)), IsFigure: false)),
            ],
            met.GroupBy(result => result.Cell)) with
        {
            Title = "Every point: a crash around each request of a handling",
            Legend =
                "A point is the gap around one request of an undisturbed handling. " +
                LegendOf("A point is met in those of these ways that are possible there", ways.Where(way => !way.CrashesServer)) +
                LegendOf(
                    "In these ways all processes of the server are killed, it is started again, and the client's process lives",
                    ways.Where(way => way.CrashesServer)) +
                (ways.Exists(way => way.Way is PointWay.Unanswered) ? $"A request without an answer has no {PointWay.Unanswered.Facts().Letter}. " : "") +
                "Met counts the experiments whose handling came to the point. The rule of three does not apply: these are all points, and not a sample.",
        };
    }

    /// <summary>The cells in one sentence each, and the points at which a message was not handled once.</summary>
    public static IReadOnlyList<(string Title, IReadOnlyList<string> Lines)> ListsOf(FaultDocument document, IReadOnlyList<FaultResult> met) =>
    [
        ("Every point", [.. met.GroupBy(result => result.Cell).Select(cell => SentenceOf(document, cell.Key, [.. cell]))]),
        ("Points at which the message was not handled once", [.. met.Where(result => result.HasMetPoint && !IsOnce(result)).Select(result =>
            $"{result.Name}: {result.Point!.Moment}: {Words.Of(result.Observed.Select(seen => seen.Class))}{HowBroken(result)}")]),
    ];

    /// <summary><c>15 once, 3 duplicated, 1 VOID</c>.</summary>
    public static string ClassesOf(IEnumerable<FaultResult> results)
    {
        var kinds = results.GroupBy(result => VerdictText.Of(result.Verdict, () => ClassOf(result), () => $"≠ {ClassOf(result)}"));
        var counts = kinds.OrderByDescending(kind => kind.Count()).ThenBy(kind => kind.Key, StringComparer.Ordinal)
            .Select(kind => $"{Figures.Count(kind.Count())} {kind.Key}").ToList();
        return counts.Count == 0 ? Figures.None : string.Join(", ", counts);
    }

    private static IReadOnlyList<Column<IGrouping<CellName, FaultResult>>> CountsOf(FaultDocument document) =>
    [
        new("points", cell => Figures.Count(PointsOf(document, cell.Key).Count)),
        new("experiments", cell => Figures.Count(ExperimentsAt(PointsOf(document, cell.Key), document))),
        new("met", cell => Figures.Count(cell.Count(result => result.HasMetPoint))),
    ];

    private static string LegendOf(string before, IEnumerable<PointWayFacts> ways) =>
        ways.Select(way => $"({way.Letter}) {way.Legend}").ToList() is { Count: > 0 } legends ? $"{before}: {string.Join("; ", legends)}. " : "";

    private static string SentenceOf(FaultDocument document, CellName cell, IReadOnlyList<FaultResult> met)
    {
        var points = PointsOf(document, cell);
        var unknown = points.Count(point => !point.CanBeProved);
        return $"{cell}: {Figures.Count(points.Count)} points, {Figures.Count(ExperimentsAt(points, document))} experiments, " +
            $"{Figures.Count(met.Count(result => result.HasMetPoint))} met: {ClassesOf(met)}"
            + (unknown > 0 ? $"; not determined after {Figures.Count(unknown)} requests, because nothing shows whether the server has acted" : "");
    }

    private static int ExperimentsAt(IEnumerable<CrashPoint> points, FaultDocument document) => points.Sum(point => point.WaysAmong(document.AllWays).Count);

    private static IReadOnlyList<CrashPoint> PointsOf(FaultDocument document, CellName cell) => document.Points?.GetValueOrDefault($"{cell}") ?? [];

    private static string HowBroken(FaultResult result) => result.Verdict is not FaultVerdict.Broken ? ""
        : result.Observed.All(seen => result.Promised.Contains(seen.Class)) ? "; a message after it broke the promise"
        : ", which is not promised";

    private static bool IsOnce(FaultResult result) =>
        result.Verdict is FaultVerdict.Kept && result.Observed is [{ Class: DeliveryClass.Once or DeliveryClass.Recovered }];

    private static string ClassOf(FaultResult result) => Words.Of(result.Observed.Select(seen => seen.Class));
}
