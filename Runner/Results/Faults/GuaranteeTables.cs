using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Faults;

/// <summary>The outcome of each cell's messages: by class, per handler that a kill met, and each promise next to the observation.</summary>
internal static class GuaranteeTables
{
    private static readonly IReadOnlyList<ClassColumn> Signature =
    [
        new("once", [DeliveryClass.Once, DeliveryClass.Recovered]),
        new("lost", [DeliveryClass.Lost]),
        new("dup rows", [DeliveryClass.Duplicated]) { Word = "doubled" },
        new("dup sends", [DeliveryClass.DuplicatedOutgoing]) { Word = "sent twice" },
        new("ghost", [DeliveryClass.Ghost]),
        new("zombie", [DeliveryClass.Zombie]),
        new("torn", [DeliveryClass.Torn]),
        new("in doubt", [DeliveryClass.InDoubt]),
        new("error", [DeliveryClass.CleanError]),
        new("other", [DeliveryClass.Stuck, DeliveryClass.Unexpected]),
    ];

    private static readonly IReadOnlyList<(string Header, DeliveryClass Class)> Rated =
    [
        ("lost", DeliveryClass.Lost), ("dup rows", DeliveryClass.Duplicated), ("dup sends", DeliveryClass.DuplicatedOutgoing),
        ("ghost", DeliveryClass.Ghost), ("zombie", DeliveryClass.Zombie), ("torn", DeliveryClass.Torn), ("in doubt", DeliveryClass.InDoubt),
    ];

    /// <param name="ordered">In the order in which they are shown.</param>
    public static IEnumerable<Table> Of(FaultDocument document, IReadOnlyList<FaultResult> ordered)
    {
        var singles = ordered.Where(result => result.IsSingleFault).ToList();
        // Weakened storms stand apart.
        foreach (var storms in ordered.Where(result => result.IsStorm).GroupBy(storm => storm.Storm?.Weakened ?? "").OrderBy(alike => alike.Key.Length))
        {
            yield return SignatureOf($"Storms{FaultsOf(storms)}{storms.Key}", [.. storms], document);
            yield return RatesOf(storms.Key, [.. storms], document);
        }

        var points = ordered.Where(result => result.Point is not null).ToList();
        if (points.Count > 0)
            yield return PointTables.Of(document, points);

        if (singles.Exists(result => result.Messages > 0))
        {
            yield return SignatureOf(
                "Single faults: all messages, those that met a fault and the others",
                [.. singles.Where(result => result.Messages > 0)],
                document);
        }

        foreach (var group in singles.GroupBy(result => result.Cell.Group))
            yield return GridOf(group.Key, [.. group]);
    }

    /// <summary>
    /// The messages that were not handled exactly once, in words: <c>4 lost, 3 torn</c>. Each is counted in the first class that fits it. If a later one is
    /// worse, it is named, too: <c>5 doubled, of these 1 also zombie</c>.
    /// </summary>
    /// <returns><c>0</c> if there is none and the promise was kept.</returns>
    public static string NotOnceOf(FaultResult result)
    {
        var words = Signature.Skip(1).Select(column => (column.Word, Messages: column.MessagesOf(result))).Where(column => column.Messages > 0)
            .Select(column => $"{Figures.Count(column.Messages)} {column.Word}")
            .Concat(WorseIn(result).Select(seen => $"of these {Figures.Count(seen.Messages)} also {Words.Of(seen.Class)}")).ToList();
        return words.Count > 0 ? string.Join(", ", words) : VerdictText.Of(result.Verdict, () => "0", () => "another promise broken");
    }

    /// <summary>The number of messages that were not handled exactly once.</summary>
    public static int MessagesNotOnceOf(FaultResult result) => Signature.Skip(1).Sum(column => column.MessagesOf(result));

    /// <summary>The messages that are counted in a milder class than this one, which fits them, too: rows that are doubled, and whose send is gone.</summary>
    private static IEnumerable<Observation> WorseIn(FaultResult result) =>
        from seen in result.Observed
        let elsewhere = seen.Messages - result.Counts.GetValueOrDefault(seen.Class)
        where elsewhere > 0
            && result.Counts.Any(count => count.Value > 0 && count.Key < seen.Class && LossOf.Of(count.Key) < LossOf.Of(seen.Class))
        select new Observation(seen.Class, elsewhere);

    private static string FaultsOf(IEnumerable<FaultResult> storms)
    {
        var made = storms.Select(storm => storm.Storm).OfType<StormFacts>().ToList();
        var faults = new (string Fault, bool Happened)[]
        {
            ("kills of the handler process", made.Exists(storm => storm.Kills > 0)),
            ("cuts of its connections", made.Exists(storm => storm.Cuts > 0)),
            ("crashes of the database server", made.Exists(storm => storm.ServerCrashes > 0)),
        }.Where(one => one.Happened).Select(one => one.Fault).ToList();
        return faults.Count > 0 ? $": {string.Join(", ", faults)}" : "";
    }

    private static Table SignatureOf(string title, IReadOnlyList<FaultResult> chosen, FaultDocument document) => Table.Of(
        [
            .. AxesOf<IGrouping<CellName, FaultResult>>(AxesIn(chosen), cell => cell.Key, document),
            new("msg/s", cell => Figures.Measured(document.Speeds?.Of(cell.Key))),
            .. Signature.Select(column => new Column<IGrouping<CellName, FaultResult>>(
                column.Header, cell => SumOf(cell, column.MessagesOf, result => WorseIn(result).Where(column.Has).Sum(seen => seen.Messages)))),
            new("N", cell => SumOf(cell, result => result.Messages, _ => 0)),
        ],
        chosen.GroupBy(result => result.Cell)) with
    {
        Title = title,
        Legend = $"{HandlerOf(chosen, document)} Each message is counted once, in the first class that fits it " +
            $"({string.Join(", ", Enum.GetValues<DeliveryClass>().Select(Words.Of))}). " +
            (chosen.Any(result => result.Verdict.IsConclusive() && WorseIn(result).Any())
                ? "After a plus are the messages that fit the class, too, and are counted in an earlier, milder one. "
                : "") +
            "Torn: half of a handler's work. Zombie: rows whose outgoing message was not sent, or rows of a dead letter. " +
            "Ghost: a sent message without its rows. Dup rows: more rows than one attempt writes. " +
            "Dup sends: rows once, and a sent message or dead letter twice. Error: a dead letter without any effect.",
    };

    /// <summary>A number of messages over the experiments that show something. Where none does, the verdicts stand in its place.</summary>
    /// <param name="more">The messages that are counted elsewhere.</param>
    private static string SumOf(IEnumerable<FaultResult> results, Func<FaultResult, int> messages, Func<FaultResult, int> more)
    {
        var shown = results.Where(result => result.Verdict.IsConclusive()).ToList();
        return shown.Count == 0
            ? string.Join('/', results.Select(result => VerdictText.Of(result.Verdict, () => "", () => "")).Distinct(StringComparer.Ordinal))
            : Figures.Count(shown.Sum(messages)) + (shown.Sum(more) is > 0 and var others ? $" + {Figures.Count(others)}" : "");
    }

    // A cell with a scenario has the handler of that scenario.
    private static string HandlerOf(IReadOnlyList<FaultResult> chosen, FaultDocument document)
    {
        var own = chosen.Where(result => result.Cell.On(AxisName.Scenario) is null).ToList();
        return own.Count == chosen.Count ? $"The handler {document.Handler}."
            : own.Count == 0 ? "The handler is that of the cell's scenario."
            : $"The handler is that of the cell's scenario; in cells without one it {document.Handler}.";
    }

    /// <summary>The axes that every cell names, and the others on which these results differ.</summary>
    private static IReadOnlyList<string> AxesIn(IReadOnlyList<FaultResult> chosen) =>
    [
        .. CellName.AxesOf(chosen.Select(result => result.Cell))
            .Where(axis => CellName.Required.Contains(axis) || chosen.Select(result => result.Cell.On(axis)).Distinct(StringComparer.Ordinal).Skip(1).Any()),
    ];

    /// <summary>A column for each axis, with the cell's value on it.</summary>
    internal static IEnumerable<Column<T>> AxesOf<T>(IEnumerable<string> axes, Func<T, CellName> cellOf, FaultDocument document) =>
        axes.Select(axis => new Column<T>(axis, row => cellOf(row).On(axis, document.Implied) ?? Figures.None, IsFigure: false));

    private static Table RatesOf(string weakened, IReadOnlyList<FaultResult> storms, FaultDocument document)
    {
        // The folders of older kits do not have it.
        var hasRestarts = storms.Any(result => Shown(result)?.RestartP50 is not null);
        IReadOnlyList<Column<FaultResult>> restarts =
        [
            new("restart p50 ms", result => Figures.Measured(Shown(result)?.RestartP50)),
            new("restart max ms", result => Figures.Measured(Shown(result)?.RestartMost)),
        ];
        return Table.Of(
            [
                .. AxesOf<FaultResult>(AxesIn(storms), result => result.Cell, document),
                new("n", result => CountOf(Shown(result)?.Chances)),
                .. Rated.Select(rate => new Column<FaultResult>(rate.Header, result => RateOf(result, rate.Class))),
                new("not once", result => CountOf(Shown(result)?.Touched)),
                new("at most", result => CountOf(Shown(result)?.MostTouched)),
                .. hasRestarts ? restarts : [],
                new("seed", result => result.Storm is { } made ? Figures.Plain(made.Seed) : Figures.None, IsFigure: false),
                new("verdict", result => Words.Of(result.Verdict), IsFigure: false),
            ],
            storms) with
        {
            Title = $"Storms: per kill or cut{weakened}",
            Legend =
                "n is the number of kills, cuts and crashes; where only the process was killed, and it was looked at what a kill met, of those that met a " +
                "message. Each class is given as messages per n; for no message, as the upper end of the 95 % interval (3/n): the messages that " +
                "one kill meets are not independent, so the kill is counted. " +
                "A message counts in every class that fits it, so these numbers can be higher than those of the table above, which counts each message once. " +
                "Not once is the number of messages in any other class, at most is how many may be; a dash means that no number is promised, or that it " +
                "was not counted." +
                (hasRestarts ? " Restart is the time from the start of a new process after a kill until the next handler had returned." : ""),
        };
    }

    /// <summary>The facts of a storm that shows something.</summary>
    private static StormFacts? Shown(FaultResult storm) => storm.Verdict.IsConclusive() ? storm.Storm : null;

    private static string CountOf(int? count) => count is { } known ? Figures.Count(known) : Figures.None;

    private static string RateOf(FaultResult result, DeliveryClass kind)
    {
        var messages = result.Observed.FirstOrDefault(seen => seen.Class == kind)?.Messages ?? 0;
        return Shown(result) is not { UpperBound: { } bound } storm ? Figures.None
            : messages == 0 ? $"< {Figures.Measured(bound)}"
            : Figures.Measured((double)messages / storm.Chances);
    }

    private static Table GridOf(string group, IReadOnlyList<FaultResult> singles)
    {
        var modes = TransactionMode.All.Select(mode => mode.Name).Where(name => singles.Any(result => result.Cell.Mode == name)).ToList();
        var byPlace = singles.ToDictionary(result => (result.Fault, result.Cell.Mode));
        return Table.Of(
            [
                new("fault", fault => fault.Name, IsFigure: false),
                .. modes.Select(mode => new Column<Fault>(
                    mode, fault => byPlace.TryGetValue((fault.Name, mode), out var result) ? PlaceOf(result) : Figures.None, IsFigure: false) { Wraps = true }),
            ],
            Fault.All.Where(fault => singles.Any(result => result.Fault == fault.Name))) with
        {
            Title = $"{group}: promise and observation",
            Legend = "Before the colon: the classes promised for the message that meets the fault. After it: what was observed. ≠ marks a broken promise." +
                (singles.Any(result => result.Known is not null)
                    ? " (known): broken for this message or a neighbour, for a reason given under 'Promises not kept'."
                    : ""),
        };
    }

    private static string PlaceOf(FaultResult result) =>
        VerdictText.Of(result.Verdict, () => PromiseAndObservation(result), () => $"≠ {PromiseAndObservation(result)}");

    private static string PromiseAndObservation(FaultResult result) =>
        $"{string.Join('/', result.Promised.Select(Words.Of))}: {ObservedOf(result)}{(result.Known is null ? "" : " (known)")}";

    /// <summary>The observed classes, with counts if a server's crash met every message.</summary>
    internal static string ObservedOf(FaultResult result)
    {
        var met = result.Observed.Sum(seen => seen.Messages);
        return string.Join('+', result.Observed.Select(seen =>
            met > result.Observed.Count
                ? $"{Figures.Count(seen.Messages)} {Words.Of(seen.Class)}"
                : Words.Of(seen.Class)));
    }

    private sealed record ClassColumn(string Header, IReadOnlyList<DeliveryClass> Classes)
    {
        /// <summary>The column's name in a sentence.</summary>
        public string Word { get; init; } = Header;

        public int MessagesOf(FaultResult result) => Classes.Sum(kind => result.Counts.GetValueOrDefault(kind));

        public bool Has(Observation seen) => Classes.Contains(seen.Class);
    }
}
