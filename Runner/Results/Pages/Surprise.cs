using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The comparison that surprises most: the mode that loses nothing against the one without transactions.</summary>
/// <param name="Exact"><c>shared</c>.</param>
/// <param name="Without"><c>transactions-off</c>.</param>
/// <param name="Comparison">The one against the other, judged by itself.</param>
internal sealed record Surprise(CellResult Exact, CellResult Without, Comparison Comparison)
{
    /// <exception cref="KitException">The run lacks one of the two, or a round that counts in both.</exception>
    public static Surprise Of(RunSource run)
    {
        var (exact, without) = (run.CellOf(TransactionMode.Shared), run.CellOf(TransactionMode.TransactionsOff));
        var ratio = exact.Against(without) ?? throw new KitException(
            $"no round in {run.Folder} counts in both {exact.Cell} and {without.Cell}.", "Name the folder of a run that has such rounds.");
        return new Surprise(exact, without, Comparison.OfAll([ratio], Margin.Default)[0]);
    }

    /// <summary>What the run allows to be said of the first, after "exactly once, and".</summary>
    public string Claim => Comparison.Verdict switch
    {
        ComparisonVerdict.Faster => "was faster than no transactions at all",
        ComparisonVerdict.Slower => "was slower than no transactions at all",
        ComparisonVerdict.NoClearDifference => "shows no clear difference to no transactions at all",
        ComparisonVerdict.TooFewRounds => "was measured next to no transactions at all, in too few rounds for a verdict",
        _ => throw new InvalidOperationException($"No such verdict: {Comparison.Verdict}."),
    };
}
