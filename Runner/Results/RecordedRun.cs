using System.Globalization;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>A stored run: every report is written from this record.</summary>
public sealed class RecordedRun
{
    /// <summary>The framework that others are compared with: the driver alone.</summary>
    internal const string Floor = "bare";

    private readonly IReadOnlyDictionary<CellName, Comparison> toStrictest;
    private readonly IReadOnlyDictionary<CellName, Comparison> toBare;
    private readonly IReadOnlyDictionary<CellName, Comparison> toDefault;

    public RecordedRun(RunDocument document, IReadOnlyList<RoundDocument> rounds)
    {
        Document = document;
        Rounds = rounds;
        Cells =
        [
            .. document.Cells.Concat(rounds.Select(round => round.Cell)).Distinct()
                .OrderBy(cell => cell.Group, StringComparer.Ordinal).ThenBy(RankOf).ThenBy(cell => cell.Mode, StringComparer.Ordinal)
                .Select(cell => new CellResult(cell, rounds.Where(round => round.Cell == cell))),
        ];
        toStrictest = Judged(cell => IsStrictest(cell) ? null : StrictestNextTo(cell));
        toBare = Judged(cell => IsFloor(cell) ? null : BareNextTo(cell));
        toDefault = Judged(cell => IsDefault(cell) ? null : DefaultNextTo(cell));
    }

    public RunDocument Document { get; }

    public IReadOnlyList<RoundDocument> Rounds { get; }

    /// <summary>
    /// The warnings that belong next to every figure of it for a reader who does not see its rounds and its notes: of its servers, its ending, its INVALID
    /// attempts, and its noise.
    /// </summary>
    public IReadOnlyList<string> Warnings => WarningsNextTo(Cells);

    /// <summary>The warnings that belong next to the figures of some of its cells: the noise is theirs alone.</summary>
    public IReadOnlyList<string> WarningsNextTo(IReadOnlyList<CellResult> shown) =>
    [
        .. ReportText.WarningOf(Document) is { } warning ? [warning] : Array.Empty<string>(),
        .. Document.Ending is { State: not RunState.Completed } ending ? [$"The run is not complete: {ending}."] : Array.Empty<string>(),
        .. Miscounted.ToList() is { Count: > 0 } wrong
            ?
            [
                $"INVALID: {Figures.Count(wrong.Count, "attempt")} at a round, in which messages were not handled exactly once: " +
                $"{string.Join(", ", wrong.Select(round => round.Name))}.",
            ]
            : Array.Empty<string>(),
        .. NoiseIn(shown) is { } noise ? [noise] : Array.Empty<string>(),
    ];

    /// <summary>The INVALID attempts in which a message was not handled exactly once, also those after which another one was valid.</summary>
    public IEnumerable<RoundDocument> Miscounted => Rounds.Where(round =>
        round.Outcome.Verdict is Verdict.Invalid && round.Accounts.Any(account => account is { Key: not DeliveryClass.Once, Value: > 0 }));

    /// <summary>The rounds that count although they are noisy, in a sentence that belongs next to every figure; <see langword="null"/>: none.</summary>
    public string? NoiseThatCounts => NoiseIn(Cells);

    private static string? NoiseIn(IReadOnlyList<CellResult> cells)
    {
        const int Few = 3;
        var noisy = cells.Where(cell => cell.Noisy > 0).ToList();
        return noisy.Count == 0
            ? null
            : $"Noisy, and counted: {Figures.Count(noisy.Sum(cell => cell.Noisy))} of {Figures.Count(cells.Sum(cell => cell.Counting.Count))} rounds, in "
              + (noisy.Count <= Few
                  ? string.Join(", ", noisy.Select(cell => $"{cell.Cell} ({Figures.Count(cell.Noisy)} of {Figures.Count(cell.Counting.Count)})"))
                  : $"{Figures.Count(noisy.Count)} of {Figures.Count(cells.Count)} cells")
              + ".";
    }

    /// <summary>The round that is missing because the process ended while saving it; <see langword="null"/>: none.</summary>
    public string? RoundLeftOut { get; init; }

    /// <summary>
    /// Every cell that was planned or has a round. Sorted by framework, transport and access, which puts the floor first (bare, ado);
    /// then the modes, the most transactional first.
    /// </summary>
    public IReadOnlyList<CellResult> Cells { get; }

    public IEnumerable<IGrouping<string, CellResult>> Groups => Cells.GroupBy(result => result.Cell.Group);

    /// <summary>
    /// The cell's rate compared with that of the strictest mode, among the cells of this run that differ only in the mode; judged together with
    /// the other cells and their references.
    /// </summary>
    /// <returns><see langword="null"/> for the strictest itself, and if no round counts in both.</returns>
    public Comparison? AgainstStrictest(CellResult result) => toStrictest.GetValueOrDefault(result.Cell);

    /// <summary>True if no stricter mode was planned among the cells that differ only in the mode.</summary>
    public bool IsStrictest(CellResult result) => ReferenceEquals(StrictestNextTo(result), result);

    /// <summary>
    /// The cell's rate compared with that of the bare driver, in a cell of this run that differs only in the framework and in what that
    /// offers; judged together with the other cells and their references.
    /// </summary>
    /// <returns><see langword="null"/> for the bare driver itself, if that was not measured, and if no round counts in both.</returns>
    public Comparison? AgainstBare(CellResult result) => toBare.GetValueOrDefault(result.Cell);

    /// <summary>
    /// The cell's rate compared with that of the cell of this run that has the default value on every axis that names can leave out, such as the
    /// scenario or the batch; judged together with the other cells and their references.
    /// </summary>
    /// <returns>
    /// <see langword="null"/> for the default itself, if that was not measured or by another clock, and if no round counts in both.
    /// </returns>
    public Comparison? AgainstDefault(CellResult result) => toDefault.GetValueOrDefault(result.Cell);

    /// <summary>
    /// The cell's rate as a multiple of that of <c>transactions-off</c>, among the cells of this run that differ only in the mode. It has no verdict: the same
    /// two cells can be judged in a column of the tables, and another verdict on them would be a second one.
    /// </summary>
    /// <returns><see langword="null"/> for <c>transactions-off</c> itself, if that was not measured, and if no round counts in both.</returns>
    public RateRatio? AgainstTransactionsOff(CellResult result) =>
        !IsTransactionsOff(result) && Cells.FirstOrDefault(other => IsTransactionsOff(other) && other.Cell.Group == result.Cell.Group) is { } off
            ? result.Against(off)
            : null;

    /// <summary>The distance between a ratio and the ends of its 95 % interval, as a share, for the widest ratio of its tables.</summary>
    /// <returns><see langword="null"/> if there is no ratio; infinity if one has a single pair of rounds.</returns>
    public double? WidestInterval => new[] { toStrictest, toBare, toDefault }
        .SelectMany(ratios => ratios.Values)
        .Max(compared => (double?)(compared.Ratio.IntervalAt(Comparison.Alpha) is { } interval
            ? (interval.High / compared.Ratio.Value) - 1
            : double.PositiveInfinity));

    /// <summary>True if a cell was measured next to the one with the default values.</summary>
    internal bool HasCellsNextToTheirDefault => Cells.Any(cell => !IsDefault(cell) && DefaultNextTo(cell) is not null);

    /// <summary>True if cells receive several messages at once.</summary>
    internal bool HasBatches => Cells.Any(cell => BatchOf(cell) > 1);

    /// <summary>True if there are cells in which no commit waits for the disk.</summary>
    internal bool HasCellsWithoutFlush => Cells.Any(cell => cell.Cell.On(AxisName.Flush, Document.Implied) == LogFlush.None.Name);

    /// <summary>True if the duration of batches was measured, which older runs do not have.</summary>
    internal bool HasDurationsOfBatches => Rounds.Any(round => round.Batch is not null);

    /// <summary>
    /// The most messages that can be received and not settled when the process dies: the concurrency times the messages of a batch. They are handled
    /// again; in <c>transactions-off</c> they are lost.
    /// </summary>
    /// <returns><see langword="null"/> on a transport without batches, such as a broker, which pushes messages ahead.</returns>
    internal int? RedoBoundOf(CellResult result) =>
        Cells.Any(other => string.Equals(other.Cell.Transport, result.Cell.Transport, StringComparison.Ordinal) && BatchOf(other) > 1)
            ? HandlersOf(result) * BatchOf(result)
            : null;

    internal bool IsDefault(CellResult result) => result.Cell == DefaultOf(result);

    /// <summary>True if frameworks can be set against the bare driver.</summary>
    internal bool HasSeveralFrameworks => Cells.Select(cell => cell.Cell.Framework).Distinct(StringComparer.Ordinal).Skip(1).Any();

    public static bool IsFloor(CellResult result) => string.Equals(result.Cell.Framework, Floor, StringComparison.Ordinal);

    /// <summary>The cell in whose mode a crash can do the least damage; of equal ones, the first in reading order.</summary>
    /// <param name="cells">At least one, in reading order.</param>
    public static CellResult StrictestOf(IEnumerable<CellResult> cells) => cells.MinBy(cell => EffectOf(cell.Cell.Mode))!;

    internal static bool IsTransactionsOff(CellResult result) => result.Cell.Mode == TransactionMode.TransactionsOff.Name;

    private CellResult StrictestNextTo(CellResult result) => StrictestOf(Cells.Where(other => other.Cell.Group == result.Cell.Group));

    private static CrashEffect? EffectOf(string mode) => TransactionMode.All.FirstOrDefault(known => known.Name == mode)?.CrashEffect;

    private CellResult? BareNextTo(CellResult result)
    {
        var bare = AxisName.OfFrameworks.Aggregate(result.Cell.WithFramework(Floor), (cell, axis) => cell.Without(axis));
        return Cells.FirstOrDefault(other => other.Cell == bare);
    }

    private static int BatchOf(CellResult result) =>
        result.Cell.On(AxisName.Batch) is { } size ? int.Parse(size, CultureInfo.InvariantCulture) : 1;

    private int HandlersOf(CellResult result) =>
        result.Cell.On(AxisName.Handlers) is { } handlers ? GridTable.NumberOf(handlers) : Document.Settings.Concurrency;

    private CellName DefaultOf(CellResult result) =>
        (Document.Implied?.Keys ?? []).Aggregate(result.Cell, (cell, axis) => cell.Without(axis));

    // A scenario without a row has no commits to time, and a rate by another clock is no reference.
    private CellResult? DefaultNextTo(CellResult result) =>
        Cells.FirstOrDefault(other => other.Cell == DefaultOf(result) && (other.Clock ?? result.Clock) == (result.Clock ?? other.Clock));

    /// <summary>True if what its handlers send is not persistent. A handler without a scenario sends nothing.</summary>
    internal static bool SendsInMemoryAre(CellName cell) =>
        cell.On(AxisName.Scenario) is not null && SendsInMemory.Are(cell.Framework, cell.Transport, cell.Mode);

    private Dictionary<CellName, Comparison> Judged(Func<CellResult, CellResult?> referenceOf)
    {
        var compared =
            (from cell in Cells
             let reference = referenceOf(cell)
             let ratio = reference is null ? null : cell.Against(reference)
             where ratio is not null
             select (cell.Cell, Ratio: ratio, IsAlike: SendsInMemoryAre(cell.Cell) == SendsInMemoryAre(reference.Cell))).ToList();
        var judged = compared.FindAll(each => each.IsAlike);
        return judged.Zip(Comparison.OfAll([.. judged.Select(each => each.Ratio)], Margin.Default), (each, comparison) => (each.Cell, comparison))
            .Concat(compared.Where(each => !each.IsAlike).Select(each => (each.Cell, Comparison.OfSendsInMemory(each.Ratio))))
            .ToDictionary();
    }

    /// <summary>The place of its mode in reading order; a mode that this kit does not know comes last.</summary>
    private static int RankOf(CellName cell) => TransactionMode.All.TakeWhile(mode => mode.Name != cell.Mode).Count();
}
