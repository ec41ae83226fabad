using Kit.Runner.Results.Proofs;

namespace Kit.Runner.Results.Drains;

/// <summary>Two builds of a service whose rounds were made in turns.</summary>
public sealed class DrainComparison(DrainDocument before, DrainDocument after)
{
    public const string ReportFile = "compare.md";

    /// <summary>After as a multiple of before, by round; <see langword="null"/>: no round counts in both.</summary>
    public Comparison? Speed
    {
        get
        {
            var then = before.Counting.ToDictionary(round => round.Round);
            return RateRatio.OfPairs(
                [
                    .. from round in after.Counting
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
    public bool IsSound => Speed is { Verdict: not ComparisonVerdict.TooFewRounds } && before.IsWhole && after.IsWhole;

    private bool IsWeaker => (before.Handling?.Mode.Promise, after.Handling?.Mode.Promise) is ({ } then, { } now)
        && !NamedPromises.All[now].IsSubsetOf(NamedPromises.All[then]);

    /// <summary>The answer, in lines.</summary>
    public IEnumerable<string> Lines
    {
        get
        {
            yield return Speed is { } speed
                ? $"After handles {speed} times the messages of before, by {Figures.Count(speed.Ratio.Pairs, "pair of rounds", "pairs of rounds")}."
                : "Nothing is compared: no round counts in both.";
            yield return $"Before: {before.Handling?.Mode.ToString() ?? "one handling was not looked at."}";
            yield return $"After: {after.Handling?.Mode.ToString() ?? "one handling was not looked at."}";
            if (IsWeaker)
                yield return "After promises less than before.";
        }
    }

    public void WriteMarkdown(TextWriter output)
    {
        output.WriteLine($"# {after.Name}: two builds in turns\n");
        foreach (var line in Lines)
            output.WriteLine($"- {Table.Escaped(line)}");
        foreach (var (name, side) in new[] { ("before", before), ("after", after) })
            output.WriteLine($"\n[{name}]({name}/{DrainFolder.ReportFile}): {new DrainTables(side).Summary}");
    }
}
