using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>The promises of each mode under the faults that tell modes apart, with those that a run saw broken, and where they were tried.</summary>
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

        var shown = ShownCells.Modes.ToDictionary(mode => mode, mode => faults.SelectMany(fault => results[(fault.Name, mode.Name)]).ToList());
        var everywhere = PlacesOf(shown.Values.SelectMany(ofMode => ofMode));
        return BlockText.Of(
            [
                new("The fault", fault => fault is null ? "*tried on*" : $"`{fault.Name}`", IsFigure: false),
                .. ShownCells.Modes.Select(mode => new Column<Fault?>(
                    $"`{mode}`",
                    fault => fault is null
                        ? TriedOn(PlacesOf(shown[mode]), everywhere)
                        : TextOf(fault, mode, [.. results[(fault.Name, mode.Name)]], PlacesOf(shown[mode])),
                    IsFigure: false)),
            ],
            faults.Prepend<Fault?>(null),
            $"From {string.Join(", ", sources.Experiments.Select(sources.LinkTo))}, over {string.Join(", ", everywhere)} (*all*). " +
            "*No window*: the mode has no such moment there. ≠ names what broke a promise, and where." +
            (shown.Values.Any(ofMode => ofMode.Exists(result => result.Verdict.ShowsNothing())) ? " *Void*: the experiment there shows nothing." : ""));
    }

    private static string TriedOn(IReadOnlyList<string> places, IReadOnlyList<string> everywhere) =>
        places.Count == 0 ? Figures.None
        : places.Count == everywhere.Count ? "all"
        : string.Join(", ", places);

    /// <param name="places">Those at which the mode met any of the faults.</param>
    private static string TextOf(Fault fault, TransactionMode mode, IReadOnlyList<FaultResult> stored, IReadOnlyList<string> places)
    {
        if (stored.Count == 0)
            return Figures.None;

        var results = stored.Select(result => ByTodaysPromise(fault, mode, result)).ToList();
        var promises = results.Where(result => result.Promised.Count > 0).GroupBy(result => Words.Of(result.Promised), StringComparer.Ordinal).ToList();
        var withoutWindow = results.GroupBy(result => result.Cell.Transport, StringComparer.Ordinal)
            .Where(cells => cells.All(result => result.Verdict is FaultVerdict.NoWindow)).Select(cells => cells.Key).ToList();
        var nothing = results.FindAll(result => result.Verdict.ShowsNothing());
        var here = PlacesOf(results);
        return string.Join(
            "; ",
            [
                .. promises.Select(alike => promises.Count == 1 ? alike.Key
                    : $"{alike.Key} on {string.Join(", ", alike.Select(result => result.Cell.Transport).Distinct(StringComparer.Ordinal))}"),
                .. results.TrueForAll(result => result.Verdict is FaultVerdict.NoWindow) ? [NoWindow]
                    : withoutWindow.Count > 0 ? [$"{NoWindow} on {string.Join(", ", withoutWindow)}"]
                    : Array.Empty<string>(),
                .. results.Where(result => result.Verdict is FaultVerdict.Broken).GroupBy(Unpromised, StringComparer.Ordinal)
                    .Select(cells => $"≠ {cells.Key}: {string.Join(", ", PlacesOf(cells))}"),
                .. nothing.Count > 0 ? [$"void: {string.Join(", ", PlacesOf(nothing))}"] : Array.Empty<string>(),
                .. here.Count < places.Count ? [$"tried on {string.Join(", ", here)} alone"] : Array.Empty<string>(),
            ]);
    }

    private static IReadOnlyList<string> PlacesOf(IEnumerable<FaultResult> results) =>
        [.. results.Select(result => $"{result.Cell.Framework}/{result.Cell.Transport}").Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)];

    /// <summary>The result, with the verdict by today's promise: one that kept an older promise is judged again.</summary>
    /// <exception cref="KitException">It broke an older promise, or nobody can tell which of today's it is to be judged by.</exception>
    private static FaultResult ByTodaysPromise(Fault fault, TransactionMode mode, FaultResult result)
    {
        // A folder does not say whether a broker held its queue. Where there was no window, or the experiment failed, no promise is stored.
        var (table, broker) = (FaultPromise.Of(fault, mode, isBroker: false), FaultPromise.Of(fault, mode, isBroker: true));
        if (result.Promised.Count == 0 || table.SetEquals(result.Promised) || broker.SetEquals(result.Promised))
            return result;
        if (result.Verdict is FaultVerdict.Broken || !table.SetEquals(broker))
        {
            throw new KitException(
                $"{result.Name} was {Words.Of(result.Verdict)} by the promise {Words.Of(result.Promised)}, and today's is {Words.Of(table)}" +
                $"{(table.SetEquals(broker) ? "" : $", on a broker {Words.Of(broker)}")}.",
                "Make the experiment again, and name its folder.");
        }

        var isBroken = result.Verdict is FaultVerdict.Kept && result.Observed.Any(seen => !table.Contains(seen.Class));
        return result with
        {
            Promised = [.. table.Order()],
            Verdict = isBroken ? FaultVerdict.Broken : result.Verdict,
        };
    }

    private static string Unpromised(FaultResult result) =>
        Words.Of(result.Observed.Select(seen => seen.Class).Except(result.Promised)) is { Length: > 0 } classes ? classes : "another message";
}
