using Kit.Guarantees;
using Kit.Runner.Results.Proofs;

namespace Kit.Runner.Results.Drains;

/// <summary>Two builds of a service whose rounds were made in turns.</summary>
/// <param name="before"><see langword="null"/>: it was not measured, and <paramref name="after"/> was.</param>
/// <param name="after"><see langword="null"/>: it was not measured, and <paramref name="before"/> was.</param>
public sealed class DrainComparison(DrainDocument? before, DrainDocument? after)
{
    public const string ReportFile = "compare.md";

    private const string NotMeasured = "it was not measured.";

    /// <summary>After as a multiple of before, by round; <see langword="null"/>: no round counts in both.</summary>
    public Comparison? Speed
    {
        get
        {
            var then = (before?.Counting ?? []).ToDictionary(round => round.Round);
            return RateRatio.OfPairs(
                [
                    .. from round in after?.Counting ?? []
                       where then.ContainsKey(round.Round)
                       let rates = (Rate: round.Throughput.AveragePerSecond, Reference: then[round.Round].Throughput.AveragePerSecond)
                       where rates is { Rate: not null, Reference: not null }
                       select (rates.Rate!.Value, rates.Reference!.Value),
                ]) is { } ratio
                ? Comparison.OfAll([ratio], Margin.Default)[0]
                : null;
        }
    }

    /// <summary>True if it is slower beyond chance and the margin, or promises less, as far as both promises are known.</summary>
    public bool IsRegression => Speed is { Verdict: ComparisonVerdict.Slower } || IsWeaker;

    /// <summary>True if it has a verdict, and every round counts.</summary>
    public bool IsSound => Speed is { Verdict: not ComparisonVerdict.TooFewRounds } && before is { IsWhole: true } && after is { IsWhole: true };

    private bool IsWeaker => Promises is ({ } then, { } now)
        && (then.IsProperSubsetOf(now) || (now.Contains(DeliveryClass.Lost) && !then.Contains(DeliveryClass.Lost)));

    private (IReadOnlySet<DeliveryClass>? Then, IReadOnlySet<DeliveryClass>? Now) Promises => (PromiseOf(before), PromiseOf(after));

    /// <summary>The answer, in lines.</summary>
    public IEnumerable<string> Lines
    {
        get
        {
            yield return Speed is { } speed
                ? $"After handles {speed} times the messages of before, by {Figures.Count(speed.Ratio.Pairs, "pair of rounds", "pairs of rounds")}."
                : "Nothing is compared: no round counts in both.";
            string?[] notes = [before?.NotMade, after?.NotMade, before?.Prolonged, after?.Prolonged];
            foreach (var note in notes.OfType<string>().Distinct(StringComparer.Ordinal))
                yield return note;
            yield return $"Before: {ModeOf(before)}";
            yield return $"After: {ModeOf(after)}";
            if (IsWeaker)
                yield return "After promises less than before.";
            else if (Promises is ({ } then, { } now) && !now.IsSubsetOf(then))
                yield return "After promises something else than before.";
        }
    }

    public void WriteMarkdown(TextWriter output)
    {
        output.WriteLine($"# {(after ?? before)?.Name}: two builds in turns\n");
        foreach (var line in Lines)
            output.WriteLine($"- {Table.Escaped(line)}");
        foreach (var (name, side) in new[] { ("before", before), ("after", after) })
        {
            output.WriteLine(side is null
                ? $"\n{name}: {NotMeasured}"
                : $"\n[{name}]({name}/{DrainFolder.ReportFile}): {new DrainTables(side).Summary}");
        }
    }

    private static IReadOnlySet<DeliveryClass>? PromiseOf(DrainDocument? side) => side?.Handling?.Mode.Promise is { } name ? NamedPromises.All[name] : null;

    private static string ModeOf(DrainDocument? side) =>
        side is null ? NotMeasured : side.Handling?.Mode.ToString() ?? "one handling was not looked at.";
}
