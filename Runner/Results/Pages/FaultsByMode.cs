using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>The promises of each mode under the faults that tell modes apart, with those that a run saw broken.</summary>
internal static class FaultsByMode
{
    private const string NoWindow = "no window";

    /// <summary>A subset, in the order of reports: the tables of a run show every fault.</summary>
    private static readonly IReadOnlyList<Fault> Shown =
    [
        Fault.ThrowAfterInsert, Fault.KillBeforeCommit, Fault.KillBeforeDispatch, Fault.KillBeforeAcknowledgement, Fault.RestartBroker,
        Fault.SwallowedError, Fault.FailedDispatch, Fault.ImmediateSend, Fault.ReceiveLost, Fault.DatabaseAway,
    ];

    public static BlockText Write(BlockSources sources)
    {
        var results = sources.Experiments.SelectMany(folder => folder.Results)
            .Where(result => result.IsSingleFault && ShownCells.IsPlain(result.Cell))
            .ToLookup(result => (result.Fault, result.Cell.Mode));
        var faults = Shown.Where(fault => ShownCells.Modes.Any(mode => results.Contains((fault.Name, mode.Name)))).ToList();
        if (faults.Count == 0)
            throw new KitException("its folders hold no experiment with a single fault.", "Name the folder of one that does: faults");

        return BlockText.Of(
            [
                new("The fault", fault => $"`{fault.Name}`", IsFigure: false),
                .. ShownCells.Modes.Select(mode => new Column<Fault>(
                    $"`{mode}`", fault => TextOf(fault, mode, [.. results[(fault.Name, mode.Name)]]), IsFigure: false)),
            ],
            faults,
            $"From {string.Join(", ", sources.Experiments.Select(sources.LinkTo))}, over every framework and transport. " +
            "*No window*: the mode has no such moment there. ≠ names what broke a promise, and where." +
            (results.SelectMany(each => each).Any(result => result.Verdict.ShowsNothing()) ? " *Void*: the experiment there shows nothing." : ""));
    }

    private static string TextOf(Fault fault, TransactionMode mode, IReadOnlyList<FaultResult> results)
    {
        if (results.Count == 0)
            return Figures.None;
        if (results.All(HasNoWindow))
            return NoWindow;

        var withoutWindow = results.GroupBy(result => result.Cell.Transport, StringComparer.Ordinal).Where(cells => cells.All(HasNoWindow))
            .Select(cells => cells.Key).ToList();
        var broken = results.Where(result => result.Verdict is FaultVerdict.Broken);
        return PromiseOf(fault, mode)
            + (withoutWindow.Count == 0 ? "" : $"; {NoWindow} on {string.Join(", ", withoutWindow)}")
            + string.Concat(broken.GroupBy(Unpromised, StringComparer.Ordinal).Select(cells =>
                $"; ≠ {cells.Key}: {PlacesOf(cells)}"))
            + (results.Where(result => result.Verdict.ShowsNothing()).ToList() is { Count: > 0 } nothing ? $"; void: {PlacesOf(nothing)}" : "");
    }

    private static string PlacesOf(IEnumerable<FaultResult> results) =>
        string.Join(", ", results.Select(result => $"{result.Cell.Framework}/{result.Cell.Transport}"));

    private static bool HasNoWindow(FaultResult result) => result.Verdict is FaultVerdict.NoWindow;

    private static string PromiseOf(Fault fault, TransactionMode mode)
    {
        var (table, broker) = (Words.Of(FaultPromise.Of(fault, mode, isBroker: false)), Words.Of(FaultPromise.Of(fault, mode, isBroker: true)));
        return table == broker ? table : $"{table}; on a broker {broker}";
    }

    private static string Unpromised(FaultResult result) =>
        Words.Of(result.Observed.Select(seen => seen.Class).Except(result.Promised)) is { Length: > 0 } classes ? classes : "another message";
}
