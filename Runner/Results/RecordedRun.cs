using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>A run as it was stored: the one record that every report is written from.</summary>
public sealed class RecordedRun
{
    private static readonly string BaselineMode = TransactionMode.FullDtc.Name;

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

    /// <summary>The cell's rate against that of full-dtc on the same framework, transport and access library, of this run alone.</summary>
    /// <returns><see langword="null"/> where one of the two has no counting round.</returns>
    public Comparison? AgainstFullDtc(CellResult result)
    {
        var baseline = Cells.FirstOrDefault(other => IsBaseline(other) && other.Cell.Group == result.Cell.Group)?.Rate;
        return result.Rate is null || baseline is null ? null : Comparison.Of(result.Rate, baseline);
    }

    public static bool IsBaseline(CellResult result) => string.Equals(result.Cell.Mode, BaselineMode, StringComparison.Ordinal);

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
