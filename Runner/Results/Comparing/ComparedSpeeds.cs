namespace Kit.Runner.Results.Comparing;

/// <summary>The speeds of two sides: a verdict on each cell, judged together.</summary>
public sealed class ComparedSpeeds
{
    /// <summary>The reason why one of two builds in turns leaves out a cell that it could run.</summary>
    public const string OtherLacksIt = "the other build does not run it";

    private const string ReferenceOfOthers = "the reference of the others: its ratio to itself is 1 in each run";

    private ComparedSpeeds(RecordedRun before, RecordedRun after, Limits limits, bool isPaired, IReadOnlyList<Candidate> candidates)
    {
        (Before, After, Limits, IsPaired) = (before, after, limits, isPaired);
        IReadOnlyList<RateRatio> ratios = [.. candidates.Select(candidate => candidate.Ratio)];
        var gated = limits.Threshold is { } threshold ? Comparison.OfAll(ratios, threshold) : [];
        Cells =
        [
            .. candidates.Zip(Comparison.OfAll(ratios, limits.Margin)).Select((each, index) => new ComparedCell(
                each.First.Before, each.First.After, each.First.Reference, each.Second,
                gated.Count > 0 && gated[index].Verdict is ComparisonVerdict.Slower)),
        ];
    }

    public RecordedRun Before { get; }

    public RecordedRun After { get; }

    public Limits Limits { get; }

    /// <summary>True if round r of one side ran directly before or after round r of the other.</summary>
    public bool IsPaired { get; }

    /// <summary>Cells of stored runs for which no other cell was named or is stricter.</summary>
    private HashSet<CellName> OwnReferences { get; init; } = [];

    /// <summary>The cells with rounds on both sides, in reading order.</summary>
    public IReadOnlyList<ComparedCell> Cells { get; }

    public IEnumerable<RoundDocument> Invalid => Before.Rounds.Concat(After.Rounds).Where(round => !round.Outcome.IsValid());

    /// <summary>Cells of before that the threshold says nothing about, with the reasons; none without a threshold.</summary>
    public IEnumerable<CellLeftOut> NotJudged => Limits.Threshold is null ? [] :
    [
        .. Cells.Where(cell => cell.Comparison.Verdict is ComparisonVerdict.TooFewRounds)
            .Select(cell => new CellLeftOut(cell.Cell, "too few rounds for a threshold")),
        .. NotCompared.Where(left => !IsReference(left.Cell) && Find(Before, left.Cell) is not null),
        .. Before.Document.LeftOut.Where(left => left.Because is OtherLacksIt),
    ];

    /// <summary>Cells that a side has and that have no ratio, with the reasons.</summary>
    public IEnumerable<CellLeftOut> NotCompared =>
        from cell in Before.Cells.Concat(After.Cells).Select(cell => cell.Cell).Distinct()
        where Cells.All(compared => compared.Cell != cell)
        select new CellLeftOut(cell, IsReference(cell) ? ReferenceOfOthers : WhyNot(cell));

    /// <summary>The reason why no cell was compared, as a clause; <see langword="null"/> if one was.</summary>
    public string? WhyNothing => Cells.Count > 0 ? null
        : Before.Cells.All(cell => cell.Counting.Count == 0) ? "before has no round that counts"
        : After.Cells.All(cell => cell.Counting.Count == 0) ? "after has no round that counts"
        : Before.Cells.All(cell => Find(After, cell.Cell) is null) ? "the two sides have no cell in common"
        : "no cell that both sides have could be compared; 'Not compared' says why for each";

    /// <summary>Cells that a side left out, with the reasons.</summary>
    public IEnumerable<CellLeftOut> LeftOut =>
        from left in Before.Document.LeftOut.Concat(After.Document.LeftOut).Distinct()
        let side = (Before.Document.LeftOut.Contains(left), After.Document.LeftOut.Contains(left)) switch
        {
            (true, true) => "left out",
            (true, false) => "left out before",
            _ => "left out after",
        }
        select left with { Because = $"{side}: {left.Because}" };

    /// <summary>Two sides that ran alternately: a cell's ratio is that of rounds of the same number.</summary>
    public static ComparedSpeeds ByRound(RecordedRun before, RecordedRun after, Limits limits) => new(before, after, limits, isPaired: true,
    [
        .. from cell in before.Cells
           let other = Find(after, cell.Cell)
           let ratio = other?.Against(cell)
           where ratio is not null
           select new Candidate(cell, other, null, ratio),
    ]);

    /// <summary>
    /// Two runs made at different times: each cell is compared, by round, with a reference in its own run, and then the two ratios are compared.
    /// Other differences between the runs cancel out as far as they affect cell and reference equally.
    /// </summary>
    /// <param name="reference">
    /// The reference of every cell; <see langword="null"/>: the strictest mode with rounds that count in both runs, on the cell's
    /// framework, transport and access library.
    /// </param>
    public static ComparedSpeeds ByReference(RecordedRun before, RecordedRun after, CellName? reference, Limits limits)
    {
        var common = before.Cells.Where(cell => cell.Counting.Count > 0 && Find(after, cell.Cell) is { Counting.Count: > 0 }).ToList();
        var references = common.ToDictionary(
            cell => cell.Cell, cell => reference ?? RecordedRun.StrictestOf(common.Where(other => other.Cell.Group == cell.Cell.Group)).Cell);
        return new ComparedSpeeds(before, after, limits, isPaired: false,
        [
            .. from cell in common
               let with = references[cell.Cell]
               where with != cell.Cell
               let other = Find(after, cell.Cell)
               let ratio = RatioTo(with, before, cell) is { } then && RatioTo(with, after, other) is { } now ? now.Over(then) : null
               where ratio is not null
               select new Candidate(cell, other, with, ratio),
        ])
        {
            OwnReferences = [.. references.Keys.Where(cell => references[cell] == cell)],
        };
    }

    private static RateRatio? RatioTo(CellName reference, RecordedRun run, CellResult cell) =>
        Find(run, reference) is { } found && found.Clock == cell.Clock ? cell.Against(found) : null;

    private static CellResult? Find(RecordedRun run, CellName name) => run.Cells.FirstOrDefault(cell => cell.Cell == name);

    private bool IsReference(CellName name) => Cells.Any(compared => compared.Reference == name);

    private string WhyNot(CellName name) => (Find(Before, name), Find(After, name)) switch
    {
        (null, _) => "only after",
        (_, null) => "only before",
        ({ Counting.Count: 0 }, _) => "no round counts before",
        (_, { Counting.Count: 0 }) => "no round counts after",
        _ when OwnReferences.Contains(name) => "no other cell has a ratio to it; name another reference with --reference",
        _ => IsPaired ? "no round counts on both sides" : "its reference is missing or timed by another clock, or no round counts in both",
    };

    private sealed record Candidate(CellResult Before, CellResult After, CellName? Reference, RateRatio Ratio);
}

/// <summary>One cell on both sides.</summary>
/// <param name="Reference">
/// The cell of the same run with which each side was compared; <see langword="null"/> if the sides were paired by round.
/// </param>
/// <param name="Comparison">After as a multiple of before.</param>
/// <param name="IsRegression">True if it is slower by more than the threshold.</param>
public sealed record ComparedCell(CellResult Before, CellResult After, CellName? Reference, Comparison Comparison, bool IsRegression)
{
    public CellName Cell => Before.Cell;
}

/// <summary>The allowed differences between two sides.</summary>
/// <param name="Margin">A smaller difference is never called one.</param>
/// <param name="Threshold">A cell that is slower by more is a regression; <see langword="null"/>: no slower cell is.</param>
public sealed record Limits(Margin Margin, Margin? Threshold);
