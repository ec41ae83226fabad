using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Views;

/// <summary>
/// The three sentences at the head of a page: the cost of full-dtc, the losses without it, and the advice if queue and data share a database. They say
/// so where the folder does not answer.
/// </summary>
internal sealed class ViewAnswers(ViewSources sources, IReadOnlyList<ViewRow> rows)
{
    private static readonly IReadOnlyList<TransactionMode> Without = [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.TransactionsOff];

    public IReadOnlyList<ViewAnswer> All =>
    [
        new("What does full-dtc cost here?", [.. Cost()]),
        new("What is lost without it?", [.. Lost()]),
        new("What should I take if queue and data share a database?", [.. Take()]),
    ];

    /// <summary>The cells with full-dtc come first in reading order with the bare driver, the floor.</summary>
    private CellResult? FullDtc => CellOf(TransactionMode.FullDtc, group: null);

    /// <summary>All three sentences speak of cells that differ in the mode alone: those next to full-dtc, or else the first of the folder.</summary>
    private string Group => FullDtc?.Cell.Group
        ?? sources.Run?.Cells.FirstOrDefault(cell => cell.Rate is not null)?.Cell.Group
        ?? rows.Select(row => row.Group).Order(StringComparer.Ordinal).FirstOrDefault()
        ?? "any cell";

    private IEnumerable<ViewPhrase> Cost()
    {
        if (FullDtc is not { } cell)
        {
            yield return new("This folder has no round of full-dtc that counts, so it does not say what full-dtc costs.");
            yield break;
        }

        yield return new($"{Place(cell)}, full-dtc handles ");
        yield return Speed(cell);
        if (Run.AgainstTransactionsOff(cell) is { } ratio && CellOf(TransactionMode.TransactionsOff, cell.Cell.Group) is { } off)
        {
            yield return new(", which is ");
            yield return new($"{Figures.Measured(ratio.Value)} times", Evidence(cell));
            yield return new(" the rate without transactions (");
            yield return Mean(off);
            yield return new($"; 95 % interval of the ratio: {ratio.IntervalText}).");
        }
        else
        {
            yield return new("; the folder has no transactions-off next to it.");
        }
    }

    private IEnumerable<ViewPhrase> Lost()
    {
        var found = Without.Select(mode => (Mode: mode, Row: RowOf(mode))).Where(each => each.Row is { Loss: not Loss.Unproven }).ToList();
        if (found.Count == 0)
        {
            yield return new($"This folder has no storm of this build over another mode on {Group}, so it does not say what is lost without full-dtc.");
            yield break;
        }

        var first = StormIn(found[0].Row!);
        yield return new($"On {Group}, in a storm of {first.Done} over {Figures.Count(first.Messages)} messages, these were not handled exactly once: ");
        foreach (var (index, (mode, row)) in found.Index())
        {
            var storm = StormIn(row!);
            yield return new($"{(index == 0 ? "" : "; ")}in {mode} ");
            yield return new(storm.Found, ProofOf(row!.Subject));
            yield return new(storm.Done == first.Done ? "" : $" in {storm.Done}");
        }

        if (RowOf(TransactionMode.FullDtc) is { Loss: not Loss.Unproven } full)
        {
            yield return new("; in full-dtc ");
            var storm = full.Storms.Where(each => each.IsOfThisBuild)
                .OrderByDescending(each => each.NotOnce).ThenByDescending(each => each.Faults).First();
            yield return new(storm.Found, ProofOf(full.Subject));
            yield return new(storm.Done == first.Done ? "" : $" in {storm.Done}");
        }

        yield return new(".");
    }

    private IEnumerable<ViewPhrase> Take()
    {
        var mode = ModeChoice.Of(new HandlerNeeds(RowsPlace.SameDatabase, Tolerance.Once, SeesRows: false))[0];
        yield return new($"Take {mode}: ");
        if (RowOf(mode) is not { } row || CellOf(mode, Group) is not { } cell)
        {
            yield return new($"by the rules it fits, but this folder has no round of it on {Group} that counts.");
            yield break;
        }

        yield return Speed(cell);
        yield return new($" on {Group}");
        if (row.Loss is not Loss.Unproven)
        {
            var storm = StormIn(row);
            yield return new(", and in a storm ");
            yield return new(storm.Found is "0" ? $"0 of {Figures.Count(storm.Messages)}" : storm.Found, ProofOf(row.Subject));
            yield return new(storm.AtMost is { } most
                ? $" messages not exactly once (with 95 % confidence, fewer than {most} do it)."
                : " messages not exactly once.");
        }
        else
        {
            yield return new($"; {row.WhyUnproven}.");
        }
    }

    private RecordedRun Run => sources.Run!;

    /// <summary>The first cell of a mode with a rate; in reading order, which begins with the floor.</summary>
    private CellResult? CellOf(TransactionMode mode, string? group) => sources.Run?.Cells.FirstOrDefault(
        cell => cell.Rate is not null && cell.Cell.Mode == mode.Name && (group is null || cell.Cell.Group == group));

    private ViewRow? RowOf(TransactionMode mode) => rows.FirstOrDefault(row => row.Mode == mode.Name && row.Group == Group);

    /// <summary>The worst storm. Of equal ones the first: the storm of the folder itself, which was made over most modes.</summary>
    private static ViewStorm StormIn(ViewRow row) => row.Storms.Where(storm => storm.IsOfThisBuild).MaxBy(storm => storm.NotOnce)!;

    private static string Place(CellResult cell) => $"On {cell.Cell.Group}";

    private static ViewPhrase Speed(CellResult cell) => new(
        $"{Figures.Measured(cell.Rate!.Mean)} messages a second" + (cell.Rate.Factor is null ? "" : $" ({SummaryTable.IntervalOf(cell.Rate)})"),
        Evidence(cell));

    private static ViewPhrase Mean(CellResult cell) => new(Figures.Measured(cell.Rate!.Mean), Evidence(cell));

    private static string Evidence(CellResult cell) => ViewAnchors.Speed(cell.Cell.FileName);

    private static string ProofOf(string subject) => ViewAnchors.Proof(subject);
}

/// <summary>A question of readers, and one sentence of this run.</summary>
/// <param name="Phrases">The sentence in pieces; a piece with a figure leads to its evidence.</param>
public sealed record ViewAnswer(string Question, [property: JsonIgnore] IReadOnlyList<ViewPhrase> Phrases)
{
    /// <summary>The sentence.</summary>
    [JsonInclude]
    public string Text => string.Concat(Phrases.Select(phrase => phrase.Text));
}

/// <summary>A piece of a sentence.</summary>
/// <param name="Evidence">The part of the page that shows the source of a figure; <see langword="null"/>: nothing to show.</param>
public sealed record ViewPhrase(string Text, string? Evidence = null);
