namespace Kit.Runner.Results.Comparing;

/// <summary>The tables and sentences of a comparison.</summary>
internal static class ComparisonText
{
    private const int MostLines = 10;

    public const string Paired =
        "Both ran alternately on the same servers: each round of one directly before or after the same round of the other.";

    public const string Warning =
        "WARNING: runs made at different times differ in more than this table can show. Only each cell's ratio to its reference in the same " +
        "run is compared, so a change in the reference looks like a change in all other cells. To find out whether a build is slower, use " +
        "compare --build.";

    // The facts that both builds share, as RunFacts names them.
    private static readonly IReadOnlyList<string> Shared = ["Machine", "System", "Settings"];

    public static Section SpeedsOf(ComparedSpeeds speeds) => Section.Of(Table.Of<ComparedCell>(
        [
            new("Cell", cell => $"{cell.Cell}", IsFigure: false),
            .. speeds.IsPaired ? [] : (Column<ComparedCell>[])[new("Reference", cell => NameOf(cell.Reference!, cell.Cell), IsFigure: false)],
            new("Pairs", cell => Figures.Plain(cell.Comparison.Ratio.Pairs)),
            new("Before msg/s", cell => Figures.Measured(cell.Before.Rate?.Mean)),
            new("After msg/s", cell => Figures.Measured(cell.After.Rate?.Mean)),
            new("Ratio", cell => Figures.Measured(cell.Comparison.Ratio.Value)),
            new("95 % interval", cell => cell.Comparison.Interval?.ToString() ?? Figures.None),
            new("Judged by", cell => cell.Comparison.Adjusted?.ToString() ?? Figures.None),
            new("Verdict", cell => cell.Comparison.Reading + (cell.IsRegression ? ", REGRESSION" : ""), IsFigure: false),
        ],
        speeds.Cells) with
    { Title = "Speed", Legend = LegendOf(speeds) });

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

    public static Section DifferencesOf(string title, IReadOnlyList<Difference> differences, string legend) => FactsOf(
        title, differences.Select(difference => (difference.What, difference.Before, difference.After)),
        differences.Count > 0 ? legend : $"No recorded differences. {legend}".TrimEnd());

    /// <summary>The two sides: the builds, or the commands of the runs.</summary>
    public static Section SidesOf(ComparedSpeeds speeds)
    {
        var (before, after) = (RunFacts.Of(speeds.Before).ToList(), RunFacts.Of(speeds.After).ToList());
        string[] own = speeds.IsPaired ? ["Build", "Commit"] : ["Command", "Time"];
        return FactsOf(
            speeds.IsPaired ? "Builds" : "Runs", own.Select(name => (name, FactIn(before, name), FactIn(after, name))),
            speeds.IsPaired ? string.Join("\n", Shared.Select(name => $"{name}: {FactIn(before, name)}.")) : "");
    }

    private static Section FactsOf(string title, IEnumerable<(string Fact, string Before, string After)> facts, string legend) => Section.Of(
        Table.Of<(string Fact, string Before, string After)>(
            [
                new("Fact", fact => fact.Fact, IsFigure: false), new("Before", fact => fact.Before, IsFigure: false),
                new("After", fact => fact.After, IsFigure: false),
            ],
            facts) with
        { Title = title, Legend = legend },
        isWordy: true);

    private static string FactIn(IEnumerable<(string Name, string Fact)> facts, string name) =>
        facts.FirstOrDefault(fact => string.Equals(fact.Name, name, StringComparison.Ordinal)).Fact ?? Figures.None;

    public static IEnumerable<string> FailuresOf(ComparedSpeeds speeds) =>
        from side in new[] { (Name: "before", Run: speeds.Before), (Name: "after", Run: speeds.After) }
        from round in side.Run.Rounds
        where !round.Outcome.IsValid()
        select $"{side.Name}: {RoundLine.Of(round)}";

    /// <summary>The noisy turns, and the reason why the load of others is not known.</summary>
    public static IEnumerable<string> NoiseOf(IReadOnlyList<(string Round, Noise Noise)> turns) =>
        turns.Select(turn => turn.Noise.OtherCpuShare.Because).OfType<string>().Distinct()
            .Select(because => $"NOISE NOT KNOWN: load from other processes was not measured: {because}.")
            .Concat(Shortened([.. turns.Where(turn => turn.Noise.IsNoisy()).Select(turn => $"NOISY: {turn.Round}: {RoundNotes.LoadOf(turn.Noise)}.")]));

    /// <summary>The first few lines, and the number of the others.</summary>
    public static IReadOnlyList<string> Shortened(IReadOnlyList<string> lines) => lines.Count <= MostLines
        ? lines
        : [.. lines.Take(MostLines), $"and {Figures.Count(lines.Count - MostLines)} more"];

    public static Section ChangesOf(ComparedPromises promises) => Section.Of(
        Table.Of<ComparedPromise>(
            [
                new("Cell", promise => $"{promise.After.Cell}", IsFigure: false),
                new("Fault", promise => promise.After.Fault, IsFigure: false),
                new("Before", promise => ComparedPromises.TextOf(promise.Before), IsFigure: false),
                new("After", promise => ComparedPromises.TextOf(promise.After), IsFigure: false),
                new("Change", promise => WordsOf(promise.Change), IsFigure: false),
            ],
            promises.Changes) with
        {
            Title = "Promises that changed",
            Legend = promises.Changes.Count == 0 ? $"None of {Figures.Count(promises.Compared)} promises changed." : "",
        },
        isWordy: true);

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

/// <summary>A part of a report: lines, or a table with its legend.</summary>
internal sealed record Section(string Title, IReadOnlyList<string> Lines, Table Table)
{
    public static Section Of(string title, IReadOnlyList<string> lines) => new(title, lines, new Table([], []));

    /// <param name="isWordy">True if its cells are texts that are too long for the columns of a terminal.</param>
    public static Section Of(Table table, bool isWordy = false) => new(table.Title, [], table) { IsWordy = isWordy };

    public bool IsWordy { get; private init; }

    public bool IsEmpty => Lines.Count == 0 && Table is { Rows.Count: 0, Legend.Length: 0 };
}
