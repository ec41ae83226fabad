using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Comparing;

/// <summary>Two folders of stored results, each with a run, experiments, or both.</summary>
public sealed class StoredSides(string before, string after)
{
    /// <summary>The reason why two folders cannot be compared; <see langword="null"/> if they can.</summary>
    public static string? WhyNot(IReadOnlyList<string> folders) => folders.All(HoldsRun) || folders.All(HoldsExperiments)
        ? null
        : $"expected two runs or two folders of experiments, found {string.Join(" and ", folders.Select(WhatIsIn))}";

    /// <summary>Compares the runs and the experiments, as far as both folders have them.</summary>
    /// <param name="reference">The cell with which all others are compared; <see langword="null"/>: the strictest mode.</param>
    /// <param name="commandLine">As typed.</param>
    /// <exception cref="KitException">A document is damaged, or one of the runs does not have the reference.</exception>
    public ComparisonReport Compare(string? reference, Limits limits, string commandLine) => new(
        commandLine,
        HoldsRun(before) && HoldsRun(after) ? CompareSpeeds(reference, limits) : null,
        HoldsExperiments(before) && HoldsExperiments(after) ? new ComparedPromises(Experiments(before), Experiments(after)) : null);

    private ComparedSpeeds CompareSpeeds(string? reference, Limits limits)
    {
        var (then, now) = (RunFolder.Open(before).Load(), RunFolder.Open(after).Load());
        if (reference is null)
            return ComparedSpeeds.ByReference(then, now, reference: null, limits);

        var common = then.Cells.Select(cell => cell.Cell).Intersect(now.Cells.Select(cell => cell.Cell)).ToList();
        return common.Find(cell => string.Equals(cell.ToString(), reference, StringComparison.Ordinal)) is { } found
            ? ComparedSpeeds.ByReference(then, now, found, limits)
            : throw new KitException(
                $"--reference: expected a cell that both runs have, found '{reference}'.", $"Both have: {string.Join(", ", common)}.");
    }

    private static GuaranteeReport Experiments(string folder) => new FaultFolder(folder).LoadReport();

    private static bool HoldsRun(string folder) => RunFolder.IsIn(folder);

    private static bool HoldsExperiments(string folder) => new FaultFolder(folder).Exists;

    private static string WhatIsIn(string folder) => (HoldsRun(folder), HoldsExperiments(folder)) switch
    {
        (true, true) => $"both in '{folder}'",
        (true, false) => $"a run in '{folder}'",
        (false, true) => $"experiments in '{folder}'",
        (false, false) => $"neither in '{folder}'",
    };
}
