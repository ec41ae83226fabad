namespace Kit.Runner.Results.Comparing;

/// <summary>The tables and sentences of a comparison.</summary>
internal static class ComparisonText
{
    private const string Cell = "Cell";
    private const string Reference = "Reference";
    private const string Verdict = "Verdict";
    private const int MostLines = 10;

    public const string Paired =
        "Both ran alternately on the same servers: each round of one directly before or after the same round of the other.";

    public const string Warning =
        "WARNING: runs made at different times differ in more than this table can show. Only each cell's ratio to its reference in the same " +
        "run is compared, so a change in the reference looks like a change in all other cells. To find out whether a build is slower, use " +
        "compare --build.";

    // The facts that both builds share, as RunFacts names them.
    private static readonly IReadOnlyList<string> Shared = ["Machine", "System", "Settings"];

    private static readonly IReadOnlyList<string> Words = [Cell, Reference, Verdict, "Fact", "Before", "After", "Fault", "Change"];

    public static bool IsFigure(string header) => !Words.Contains(header);

    public static Section SpeedsOf(ComparedSpeeds speeds) => Section.Table(
        "Speed",
        [
            Cell, .. speeds.IsPaired ? (string[])[] : [Reference],
            "Pairs", "Before msg/s", "After msg/s", "Ratio", "95 % interval", "Judged by", Verdict,
        ],
        [
            .. speeds.Cells.Select(cell => (IReadOnlyList<string>)
            [
                cell.Cell.ToString(),
                .. speeds.IsPaired ? (string[])[] : [NameOf(cell.Reference!, cell.Cell)],
                Figures.Plain(cell.Comparison.Ratio.Pairs),
                Figures.Measured(cell.Before.Rate?.Mean),
                Figures.Measured(cell.After.Rate?.Mean),
                Figures.Measured(cell.Comparison.Ratio.Value),
                cell.Comparison.Interval?.ToString() ?? Figures.None,
                cell.Comparison.Adjusted?.ToString() ?? Figures.None,
                cell.Comparison.Reading + (cell.IsRegression ? ", REGRESSION" : ""),
            ]),
        ],
        LegendOf(speeds));

    // On the same framework, transport and access library the mode is enough.
    private static string NameOf(CellName reference, CellName cell) =>
        reference.Group == cell.Group ? reference.Mode : reference.ToString();

    private static string LegendOf(ComparedSpeeds speeds)
    {
        var margin = speeds.Limits.Margin;
        return (speeds.IsPaired
                ? "Ratio is after divided by before, round by round: the geometric mean of the rounds' ratios, with its 95 % t-interval. "
                : "Ratio is the cell's ratio to its reference after, divided by that before, each taken round by round within its run, with " +
                  "its 95 % interval (Welch). ")
            + "Judged by is that interval, widened for the number of cells in the table (Holm). A cell is faster or slower only if it lies "
            + $"outside {Figures.Measured(1 - margin.Share)} to {Figures.Measured(1 / (1 - margin.Share))}; "
            + $"n < {Figures.Plain(Comparison.EnoughRounds)} marks a cell with fewer rounds. "
            + "No clear difference does not mean that there is none: more rounds may show one."
            + (speeds.Limits.Threshold is { } threshold
                ? $" A regression lies below {Figures.Measured(1 - threshold.Share)}: slower by more than "
                  + $"{Figures.Share(threshold.Share)}."
                : " Without --threshold a slower cell is not a regression.");
    }

    public static string CountsOf(ComparedSpeeds speeds)
    {
        var counts = speeds.Cells.CountBy(cell => cell.Comparison.Verdict).ToDictionary();
        string Of(ComparisonVerdict verdict) => Figures.Count(counts.GetValueOrDefault(verdict));
        return $"Cells compared: {Figures.Count(speeds.Cells.Count)}. Slower after: {Of(ComparisonVerdict.Slower)}. "
            + $"Faster after: {Of(ComparisonVerdict.Faster)}. No clear difference: {Of(ComparisonVerdict.NoClearDifference)}."
            + (counts.ContainsKey(ComparisonVerdict.TooFewRounds) ? $" Too few rounds: {Of(ComparisonVerdict.TooFewRounds)}." : "");
    }

    public static Section DifferencesOf(string title, IReadOnlyList<Difference> differences, string legend) => differences.Count == 0
        ? Section.Table(title, [], [], $"No recorded differences. {legend}".TrimEnd())
        : Section.Table(
            title, ["Fact", "Before", "After"],
            [.. differences.Select(difference => (IReadOnlyList<string>)[difference.What, difference.Before, difference.After])],
            legend) with
        { IsWordy = true };

    /// <summary>The two sides: the builds, or the commands of the runs.</summary>
    public static Section SidesOf(ComparedSpeeds speeds)
    {
        var (before, after) = (RunFacts.Of(speeds.Before).ToList(), RunFacts.Of(speeds.After).ToList());
        string[] own = speeds.IsPaired ? ["Build", "Commit"] : ["Command", "Time"];
        return Section.Table(
            speeds.IsPaired ? "Builds" : "Runs",
            ["Fact", "Before", "After"],
            [.. own.Select(name => (IReadOnlyList<string>)[name, FactIn(before, name), FactIn(after, name)])],
            speeds.IsPaired
                ? string.Join("\n", Shared.Select(name => $"{name}: {FactIn(before, name)}."))
                : "") with
        { IsWordy = true };
    }

    private static string FactIn(IEnumerable<(string Name, string Fact)> facts, string name) =>
        facts.FirstOrDefault(fact => string.Equals(fact.Name, name, StringComparison.Ordinal)).Fact ?? Figures.None;

    public static IEnumerable<string> FailuresOf(ComparedSpeeds speeds) =>
        from side in new[] { (Name: "before", Run: speeds.Before), (Name: "after", Run: speeds.After) }
        from round in side.Run.Rounds
        where !round.Outcome.IsValid()
        select $"{side.Name}: {RoundLine.Of(round)}";

    /// <summary>The first few lines, and the number of the others.</summary>
    public static IReadOnlyList<string> Shortened(IReadOnlyList<string> lines) => lines.Count <= MostLines
        ? lines
        : [.. lines.Take(MostLines), $"and {Figures.Count(lines.Count - MostLines)} more"];

    public static Section ChangesOf(ComparedPromises promises) => Section.Table(
        "Promises that changed",
        [Cell, "Fault", "Before", "After", "Change"],
        [
            .. promises.Changes.Select(promise => (IReadOnlyList<string>)
            [
                promise.After.Cell.ToString(), promise.After.Fault,
                ComparedPromises.TextOf(promise.Before), ComparedPromises.TextOf(promise.After), WordsOf(promise.Change),
            ]),
        ],
        promises.Changes.Count == 0 ? $"None of {Figures.Count(promises.Compared)} promises changed." : "") with
    { IsWordy = true };

    private static string WordsOf(PromiseChange change) => change switch
    {
        PromiseChange.Broken => "REGRESSION: broken",
        PromiseChange.BrokenForAKnownReason => "broken for a known reason",
        PromiseChange.NotShown => "no longer shown",
        PromiseChange.PromisedDifferently => "promised differently",
        PromiseChange.Mended => "kept again",
        _ => throw new ArgumentOutOfRangeException(nameof(change), change, "No such change."),
    };
}
