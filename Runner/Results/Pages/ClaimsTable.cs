using Kit.Guarantees;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The claims of documentation, next to the observations.</summary>
internal static class ClaimsTable
{
    private const string NotMade = "not in a published folder";

    public static BlockText Write(BlockSources sources)
    {
        var experiments = sources.Experiments;
        return BlockText.Of(
            [
                new("Version", claim => claim.Version, IsFigure: false),
                new("Mode", claim => $"`{claim.Mode}`", IsFigure: false),
                new("Claim", claim => $"“{claim.Words}” ([source]({claim.Link}))", IsFigure: false),
                new("Experiment", claim => $"`{claim.Tested.Framework}/{claim.Tested.Transport}/{claim.Tested.Mode}` `{claim.Tested.Fault}`", IsFigure: false),
                new("Observed", claim => ResultOf(claim, experiments) is { } made ? ObservedOf(made) : NotMade, IsFigure: false),
            ],
            Claim.Read(sources.TextOf(Claim.File)),
            $"Observed in {string.Join(", ", experiments.Select(sources.LinkTo))}.");
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
