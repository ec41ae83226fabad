using Kit.Guarantees;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The claims of documentation, next to the observations.</summary>
internal sealed class ClaimsTable() : BlockKind("claims")
{
    private const string NotMade = "not in a published folder";

    public override BlockText Write(BlockSources sources)
    {
        var experiments = sources.Experiments;
        return BlockText.Of(
        [
            .. MarkdownTables.LinesOfMarkdown(
                [("Version", false), ("Mode", false), ("Claim", false), ("Experiment", false), ("Observed", false)],
                Claim.Read(sources.TextOf(Claim.File)).Select(claim => new[]
                {
                    claim.Version,
                    $"`{claim.Mode}`",
                    $"“{claim.Words}” ([source]({claim.Link}))",
                    $"`{claim.Tested.Framework}/{claim.Tested.Transport}/{claim.Tested.Mode}` `{claim.Tested.Fault}`",
                    ResultOf(claim, experiments) is { } made ? ObservedOf(made) : NotMade,
                })),
            "",
            $"Observed in {string.Join(", ", experiments.Select(sources.LinkTo))}.",
        ]);
    }

    /// <summary>The experiment that tests a claim; <see langword="null"/> if none of the folders has it.</summary>
    internal static FaultResult? ResultOf(Claim claim, IReadOnlyList<FaultSource> experiments) =>
        experiments.SelectMany(folder => folder.Results).FirstOrDefault(result => IsOf(claim, result));

    /// <summary>The observation of an experiment.</summary>
    internal static string ObservedOf(FaultResult result) =>
        string.Join(", ", result.Observed.Select(seen => $"{Words.Of(seen.Class)} {Figures.Count(seen.Messages)}"));

    private static bool IsOf(Claim claim, FaultResult result) =>
        ShownCells.IsPlain(result.Cell) && (result.Cell.Framework, result.Cell.Transport, result.Cell.Mode, result.Fault) == claim.Tested;
}
