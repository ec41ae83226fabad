using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>A run as it was stored: the one record that every report is written from.</summary>
public sealed class RecordedRun
{
    private const string Floor = "bare";

    private static readonly IReadOnlyList<string> Modes = [.. TransactionMode.All.Select(mode => mode.Name)];

    public RecordedRun(RunDocument document, IReadOnlyList<RoundDocument> rounds)
    {
        Document = document;
        Rounds = rounds;
        Cells =
        [
            .. document.Cells.Concat(rounds.Select(round => round.Cell)).Distinct()
                .Order(Comparer<CellName>.Create(InReadingOrder))
                .Select(cell => new CellResult(cell, rounds.Where(round => round.Cell == cell))),
        ];
    }

    public RunDocument Document { get; }

    public IReadOnlyList<RoundDocument> Rounds { get; }

    /// <summary>
    /// Every cell that was planned or has a round. Framework, transport and access by name, which puts the floor first (bare, ado);
    /// then the modes, the most transactional first.
    /// </summary>
    public IReadOnlyList<CellResult> Cells { get; }

    public IEnumerable<IGrouping<CellGroup, CellResult>> Groups => Cells.GroupBy(result => result.Cell.Group);

    /// <summary>The cell's rate against that of the strictest mode on the same framework, transport and access library, of this run alone.</summary>
    /// <returns><see langword="null"/> where one of the two has no counting round.</returns>
    public Comparison? AgainstStrictest(CellResult result) => Compare(result, StrictestBeside(result));

    /// <summary>Whether no stricter mode was planned on its framework, transport and access library.</summary>
    public bool IsStrictest(CellResult result) => ReferenceEquals(StrictestBeside(result), result);

    /// <summary>The cell's rate against that of the bare driver on the same transport, with the same mode and access library, of this run alone.</summary>
    /// <returns><see langword="null"/> where there is none, and where one of the two has no counting round.</returns>
    public Comparison? AgainstBare(CellResult result) =>
        Cells.FirstOrDefault(other => other.Cell == result.Cell with { Framework = Floor }) is { } bare ? Compare(result, bare) : null;

    public static bool IsFloor(CellResult result) => string.Equals(result.Cell.Framework, Floor, StringComparison.Ordinal);

    // By what a crash can do; those that are equal in that stand in the order of what they promise.
    private CellResult StrictestBeside(CellResult result) =>
        Cells.Where(other => other.Cell.Group == result.Cell.Group).MinBy(other => EffectOf(other.Cell.Mode))!;

    private static CrashEffect? EffectOf(string mode) => TransactionMode.All.FirstOrDefault(known => string.Equals(known.Name, mode, StringComparison.Ordinal))?.CrashEffect;

    private static Comparison? Compare(CellResult result, CellResult baseline) =>
        result.Rate is null || baseline.Rate is null ? null : Comparison.Of(result.Rate, baseline.Rate);

    private static int InReadingOrder(CellName left, CellName right)
    {
        var group = string.CompareOrdinal(left.Group.ToString(), right.Group.ToString());
        if (group != 0)
            return group;
        var mode = RankOf(left.Mode).CompareTo(RankOf(right.Mode));
        return mode != 0 ? mode : string.CompareOrdinal(left.Mode, right.Mode);
    }

    private static int RankOf(string mode)
    {
        for (var rank = 0; rank < Modes.Count; rank++)
        {
            if (string.Equals(Modes[rank], mode, StringComparison.Ordinal))
                return rank;
        }

        return Modes.Count;
    }
}
