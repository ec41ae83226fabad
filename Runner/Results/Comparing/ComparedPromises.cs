using Kit.Guarantees;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Comparing;

/// <summary>The change of a promise between two folders of experiments.</summary>
public enum PromiseChange
{
    /// <summary>It is broken now without a known reason, and was kept, broken for a known reason, or not tested: a regression.</summary>
    Broken,

    /// <summary>It was kept, and is broken now for a known reason, which may not show every time.</summary>
    BrokenForAKnownReason,

    /// <summary>The experiment showed something and shows nothing now: the fault did not fire, or the experiment failed.</summary>
    NotShown,

    /// <summary>Something else is promised, or the window has disappeared or is new. Nothing is broken, but it should be known.</summary>
    PromisedDifferently,

    /// <summary>It was broken or not shown, and is kept now.</summary>
    Mended,
}

/// <summary>An experiment with different results before and after.</summary>
public sealed record ComparedPromise(FaultResult Before, FaultResult After, PromiseChange Change);

/// <summary>The promises of two folders of experiments, by cell and fault, or by cell and request of a handling.</summary>
public sealed class ComparedPromises
{
    public ComparedPromises(GuaranteeReport before, GuaranteeReport after)
    {
        var (then, now) = (ByMoment(before), ByMoment(after));
        Differences = Difference.Between(before, after);
        Lacks = [.. before.Lacks().Select(lack => $"before: {lack}"), .. after.Lacks().Select(lack => $"after: {lack}")];
        Compared = then.Keys.Count(now.ContainsKey);
        OnlyBefore = NamesOf(then, without: now);
        OnlyAfter = NamesOf(now, without: then);
        Changes =
        [
            .. from made in then.OrderBy(made => made.Value.Name, StringComparer.Ordinal)
               where now.ContainsKey(made.Key)
               let change = ChangeOf(made.Value, now[made.Key])
               where change is not null
               select new ComparedPromise(made.Value, now[made.Key], change.Value),
        ];
    }

    public IReadOnlyList<Difference> Differences { get; }

    /// <summary>What a side has not finished, with its name.</summary>
    public IReadOnlyList<string> Lacks { get; }

    /// <summary>Experiments that both folders have.</summary>
    public int Compared { get; }

    public IReadOnlyList<string> OnlyBefore { get; }

    public IReadOnlyList<string> OnlyAfter { get; }

    public IReadOnlyList<ComparedPromise> Changes { get; }

    public bool HasRegression => Changes.Any(change => change.Change is PromiseChange.Broken);

    /// <summary>
    /// True if an experiment that showed something shows nothing now, or if a side is not finished. An experiment that was not repeated is only listed.
    /// </summary>
    public bool IsIncomplete => Lacks.Count > 0 || Changes.Any(change => change.Change is PromiseChange.NotShown);

    // A statement more or less in a handling shifts the numbers of all later points. The request says which are the same moment.
    private static Dictionary<string, FaultResult> ByMoment(GuaranteeReport report) => report.Ordered.ToDictionary(result =>
        result.Point is { } point
        && report.Document.Points?.GetValueOrDefault($"{result.Cell}")?.FirstOrDefault(recorded => recorded.Number == point.Number) is { } recorded
            ? FaultResult.NameOf(result.Cell, $"{point.Way} {recorded.Request}")
            : result.Name);

    private static IReadOnlyList<string> NamesOf(Dictionary<string, FaultResult> some, Dictionary<string, FaultResult> without) =>
        [.. some.Where(made => !without.ContainsKey(made.Key)).Select(made => made.Value.Name).Order(StringComparer.Ordinal)];

    private static PromiseChange? ChangeOf(FaultResult before, FaultResult after) => (StandingOf(before), StandingOf(after)) switch
    {
        (not Standing.Broken, Standing.Broken) => PromiseChange.Broken,
        (Standing.Kept, Standing.BrokenKnown) => PromiseChange.BrokenForAKnownReason,
        (not Standing.NotShown, Standing.NotShown) => PromiseChange.NotShown,
        (Standing.Broken or Standing.BrokenKnown or Standing.NotShown, Standing.Kept) => PromiseChange.Mended,
        (Standing.NoWindow, not Standing.NoWindow) or (not Standing.NoWindow, Standing.NoWindow) => PromiseChange.PromisedDifferently,
        _ => before.Promised.Order().SequenceEqual(after.Promised.Order()) ? null : PromiseChange.PromisedDifferently,
    };

    private static Standing StandingOf(FaultResult result) => result.Verdict switch
    {
        FaultVerdict.Kept => Standing.Kept,
        FaultVerdict.Broken => result.Known is null ? Standing.Broken : Standing.BrokenKnown,
        FaultVerdict.NoWindow => Standing.NoWindow,
        FaultVerdict.Void or FaultVerdict.Failed => Standing.NotShown,
        _ => throw new ArgumentOutOfRangeException(nameof(result), result.Verdict, "No such verdict."),
    };

    /// <summary>An experiment's verdict as a text, with the promise.</summary>
    public static string TextOf(FaultResult result) =>
        Words.Of(result.Verdict)
        + (result.Promised.Count > 0 ? $" (promised: {string.Join(", ", result.Promised.Select(Words.Of))})" : "")
        + (result.Known is { } known ? $", known: {known}" : result.Violations.Count > 0 ? $": {result.Violations[0].Because}" : "")
        + (result.Because is { } because ? $": {because}" : "");

    private enum Standing
    {
        Kept,
        BrokenKnown,
        Broken,
        NoWindow,
        NotShown,
    }
}
