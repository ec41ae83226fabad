using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Faults;

/// <summary>The evidence below the tables: broken promises and their reasons, experiments that show nothing, a description of each fault.</summary>
internal static class GuaranteeLists
{
    /// <param name="ordered">In the order in which they are shown.</param>
    public static IEnumerable<(string Title, IReadOnlyList<string> Lines)> Of(FaultDocument document, IReadOnlyList<FaultResult> ordered)
    {
        var broken = ordered.Where(result => result.Verdict is FaultVerdict.Broken).ToList();
        if (broken.Count > 0)
            yield return ("Promises not kept", [.. broken.SelectMany(Findings)]);

        foreach (var list in PointTables.ListsOf(document, [.. ordered.Where(result => result.Point is not null)]))
            yield return list;

        var windows = ordered.Where(result => result.Storm?.Windows is not null).ToList();
        if (windows.Count > 0)
            yield return (
                "Kills during two-phase commit",
                [.. windows.Select(result => $"{result.Name}: {Figures.Count(result.Storm!.Kills)} kills; {result.Storm.Windows}")]);

        var crashes = ordered.Where(result => result is { HandledAgain: not null, Verdict: FaultVerdict.Kept or FaultVerdict.Broken }).ToList();
        if (crashes.Count > 0)
            yield return ("Handled again after a crash", [.. crashes.Select(result => $"{result.Name}: {result.HandledAgain}")]);

        var failed = ordered.Where(result => result.Verdict is FaultVerdict.Void or FaultVerdict.Failed).ToList();
        if (failed.Count > 0)
            yield return ("Experiments that show nothing", [.. failed.Select(result => $"{result.Name}: {result.Because}")]);

        var without = ordered.Where(result => result.Verdict is FaultVerdict.NoWindow).ToList();
        if (without.Count > 0)
        {
            yield return ("No window", [.. without.GroupBy(result => (result.Cell.Mode, result.Fault, result.Because)).Select(group =>
                $"{group.Key.Fault} in {group.Key.Mode} " +
                $"({string.Join(", ", group.Select(PlaceOf))}): {group.Key.Because}")]);
        }

        var faults = Fault.All.Where(fault => ordered.Any(result => result.Fault == fault.Name)).ToList();
        if (faults.Count > 0)
            yield return ("Faults", [.. faults.Select(fault => $"{fault.Name}: {fault.What}")]);
        if (document.LeftOut.Count > 0)
            yield return ("Left out", LeftOutLines.Of(document.LeftOut));
    }

    private static string PlaceOf(FaultResult result)
    {
        var scenario = result.Cell.On(AxisName.Scenario);
        return $"{result.Cell.Framework}/{result.Cell.Transport}{(scenario is null ? "" : $"/{scenario}")}";
    }

    private static IEnumerable<string> Findings(FaultResult result)
    {
        var messages = result.ViolationCount - (result.Storm?.TooMany is null ? 0 : 1);
        var met = messages > 0 ? $"{Figures.Count(messages)} of {Figures.Count(result.Messages)} messages; " : "";
        yield return $"{result.Name}: {met}{string.Join("; ", result.Fired)}";
        if (result.Known is { } reason)
            yield return $"{result.Name}: known: {reason}";
        foreach (var violation in result.Violations)
        {
            var evidence = violation.Evidence.Count > 0 ? $" [{string.Join("; ", violation.Evidence)}]" : "";
            yield return $"{result.Name}: {violation.Because}{evidence}";
        }
    }
}
