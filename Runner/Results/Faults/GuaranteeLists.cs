using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Faults;

/// <summary>The evidence below the tables: broken promises and their reasons, experiments that show nothing, a description of each fault.</summary>
internal static class GuaranteeLists
{
    /// <param name="ordered">In the order in which they are shown.</param>
    public static IEnumerable<(string Title, IReadOnlyList<string> Lines)> Of(FaultDocument document, IReadOnlyList<FaultResult> ordered) =>
        ((IReadOnlyList<(string Title, IReadOnlyList<string> Lines)>)
        [
            ("Promises not kept", [.. ordered.Where(result => result.Verdict is FaultVerdict.Broken).SelectMany(Findings)]),
            .. PointTables.ListsOf(document, [.. ordered.Where(result => result.Point is not null)]),
            ("Kills during two-phase commit", [.. ordered.Where(result => result.Storm?.Windows is not null && result.Verdict.IsConclusive())
                .Select(result => $"{result.Name}: {Figures.Count(result.Storm!.Kills)} kills; {result.Storm.Windows}")]),
            ("Handled again after a crash", [.. ordered.Where(result => result.HandledAgain is not null && result.Verdict.IsConclusive())
                .Select(result => $"{result.Name}: {result.HandledAgain}")]),
            ("Experiments that show nothing", [.. ordered.Where(result => result.Verdict.ShowsNothing())
                .Select(result => $"{result.Name}: {result.Because}")]),
            ("Tried again", [.. ordered.Where(result => result.Verdict is not FaultVerdict.Broken && result.Before.Count > 0)
                .Select(result => $"{result.Name}, because {string.Join("; then ", result.Before)}")]),
            ("No window", [.. ordered.Where(result => result.Verdict is FaultVerdict.NoWindow)
                .GroupBy(result => (result.Cell.Mode, result.Fault, result.Because))
                .Select(group => $"{group.Key.Fault} in {group.Key.Mode} ({string.Join(", ", group.Select(PlaceOf))}): {group.Key.Because}")]),
            ("Faults", [.. Fault.All.Where(fault => ordered.Any(result => result.Fault == fault.Name)).Select(fault => $"{fault.Name}: {fault.What}")]),
            ("Left out", CellLeftOut.LinesOf(document.LeftOut)),
        ]).Where(list => list.Lines.Count > 0);

    private static string PlaceOf(FaultResult result)
    {
        var scenario = result.Cell.On(AxisName.Scenario);
        return $"{result.Cell.Framework}/{result.Cell.Transport}{(scenario is null ? "" : $"/{scenario}")}";
    }

    private static IEnumerable<string> Findings(FaultResult result)
    {
        var met = result.MessagesNotPromised is > 0 and var messages ? $"{Figures.Count(messages)} of {Figures.Count(result.Messages)} messages; " : "";
        yield return $"{result.Name}: {met}{string.Join("; ", result.Fired)}";
        if (result.Repeated.Count > 0)
            yield return $"{result.Name}: repeated: {string.Join("; ", result.Repeated)}";
        if (result.Known is { } reason)
            yield return $"{result.Name}: known: {reason}";
        foreach (var violation in result.Violations)
        {
            var evidence = violation.Evidence.Count > 0 ? $" [{string.Join("; ", violation.Evidence)}]" : "";
            yield return $"{result.Name}: {violation.Because}{evidence}";
        }
    }
}
