using System.Globalization;
using CsvHelper;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Spectre.Console;

namespace Kit.Runner.Results.Faults;

/// <summary>What was found of every cell: the speed beside what became of the messages, each promise beside its observation, and the evidence.</summary>
public sealed class GuaranteeReport(FaultDocument document, IReadOnlyList<FaultResult> results)
{
    private static readonly IReadOnlyList<Column> Signature =
    [
        new("framework", cells => cells[0].Cell.Framework),
        new("transport", cells => cells[0].Cell.Transport),
        new("mode", cells => cells[0].Cell.Mode),
        new("once", cells => Count(cells, DeliveryClass.Once, DeliveryClass.Recovered)),
        new("lost", cells => Count(cells, DeliveryClass.Lost)),
        new("dup", cells => Count(cells, DeliveryClass.Duplicated, DeliveryClass.DuplicatedOutgoing)),
        new("ghost", cells => Count(cells, DeliveryClass.Ghost)),
        new("zombie", cells => Count(cells, DeliveryClass.Zombie)),
        new("torn", cells => Count(cells, DeliveryClass.Torn)),
        new("in doubt", cells => Count(cells, DeliveryClass.InDoubt)),
        new("error", cells => Count(cells, DeliveryClass.CleanError)),
        new("other", cells => Count(cells, DeliveryClass.Stuck, DeliveryClass.Unexpected)),
        new("N", cells => Figures.Count(cells.Sum(cell => cell.Messages))),
    ];

    private const int ColumnsBeforeSpeed = 3;

    private static readonly IReadOnlyList<(string Header, DeliveryClass Class)> Rated =
    [
        ("lost", DeliveryClass.Lost), ("dup rows", DeliveryClass.Duplicated), ("dup sends", DeliveryClass.DuplicatedOutgoing),
        ("ghost", DeliveryClass.Ghost), ("zombie", DeliveryClass.Zombie), ("torn", DeliveryClass.Torn), ("in doubt", DeliveryClass.InDoubt),
    ];

    private readonly IReadOnlyList<FaultResult> ordered =
    [
        .. results
            .OrderBy(result => result.Cell.Framework, StringComparer.Ordinal)
            .ThenBy(result => result.Cell.Transport, StringComparer.Ordinal)
            .ThenBy(result => TransactionMode.All.ToList().FindIndex(mode => mode.Name == result.Cell.Mode))
            .ThenBy(result => Fault.All.ToList().FindIndex(fault => fault.Name == result.Fault)),
    ];

    public void WriteMarkdown(TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(output);
        output.WriteLine($"# Guarantees, {Figures.Moment(document.StartedUtc)}");
        output.WriteLine();
        WriteLines(output, Facts());
        foreach (var table in Tables())
        {
            output.WriteLine();
            output.WriteLine($"## {table.Title}");
            output.WriteLine();
            MarkdownTables.WriteTable(table.Headers, table.Rows, output, IsFigure);
            if (table.Legend.Length > 0)
            {
                output.WriteLine();
                output.WriteLine(table.Legend);
            }
        }

        foreach (var (title, lines) in Lists())
        {
            output.WriteLine();
            output.WriteLine($"## {title}");
            output.WriteLine();
            WriteLines(output, lines);
        }
    }

    /// <param name="output">Where to; plain text, no colors.</param>
    /// <param name="width">Columns of the terminal.</param>
    public void WriteTerminal(TextWriter output, int width)
    {
        ArgumentNullException.ThrowIfNull(output);
        var console = TerminalSummary.ConsoleOn(output, width);
        foreach (var table in Tables())
        {
            console.Write(TerminalSummary.TableOf(table.Title, table.Headers, table.Rows, header => IsFigure(header) || IsMode(header)));
            if (table.Legend.Length > 0)
                console.WriteLine(table.Legend);
        }

        foreach (var (title, lines) in Lists())
        {
            console.WriteLine();
            console.WriteLine($"{title}:");
            foreach (var line in lines)
                console.WriteLine($"- {line}");
        }
    }

    /// <summary>A line for each result: invariant culture, an empty field for what is not known.</summary>
    public void WriteCsv(TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(output);
        using var csv = CsvWriter.Create(output, new CsvWriterOptions { NewLine = "\n" }, leaveOpen: true);
        csv.WriteHeader(
        [
            "framework", "transport", "mode", "access", "msg_per_second", "fault", "verdict", "because", "promised", "observed", "messages",
            .. Enum.GetValues<DeliveryClass>().Select(kind => Words.Of(kind).Replace('-', '_')), "violations", "seconds", "seed", "kills", "cuts", "in_flight",
        ]);
        foreach (var result in ordered)
        {
            csv.WriteRecord(
            [
                result.Cell.Framework, result.Cell.Transport, result.Cell.Mode, result.Cell.Access, Text(document.Speeds?.Of(result.Cell)), result.Fault,
                Words.Of(result.Verdict), BecauseOf(result), Joined(result.Promised),
                string.Join(' ', result.Observed.Select(seen => $"{Words.Of(seen.Class)}={seen.Messages}")),
                Text(result.Messages), .. Enum.GetValues<DeliveryClass>().Select(kind => result.Counts.TryGetValue(kind, out var count) ? Text(count) : ""),
                Text(result.ViolationCount), result.Seconds.ToString("F1", CultureInfo.InvariantCulture),
                Text(result.Storm?.Seed), Text(result.Storm?.Kills), Text(result.Storm?.Cuts), Text(result.Storm?.InFlight),
            ]);
        }
    }

    private static bool IsFigure(string header) =>
        header is "msg/s" or "in flight"
        || Signature.Skip(ColumnsBeforeSpeed).Any(column => column.Header == header)
        || Rated.Any(rate => rate.Header == header);

    /// <summary>A column of the grid, which may wrap.</summary>
    private static bool IsMode(string header) => TransactionMode.All.Any(mode => mode.Name == header);

    private static string? BecauseOf(FaultResult result) => result.Known is { } reason ? $"known: {reason}" : result.Because;

    private static string Joined(IEnumerable<DeliveryClass> classes) => string.Join(' ', classes.Select(Words.Of));

    private static string Text(IConvertible? value) => value?.ToString(CultureInfo.InvariantCulture) ?? "";

    private static void WriteLines(TextWriter output, IEnumerable<string> lines)
    {
        foreach (var line in lines)
            output.WriteLine($"- {MarkdownTables.Escaped(line)}");
    }

    private static string Count(IReadOnlyList<FaultResult> cells, params DeliveryClass[] classes) =>
        Figures.Count(cells.Sum(cell => classes.Sum(kind => cell.Counts.GetValueOrDefault(kind))));

    private IEnumerable<string> Facts()
    {
        yield return $"Command: {document.CommandLine}";
        yield return $"Commit: {CommitOf(document.Commit)}";
        yield return $"Machine: {document.Host.CpuModel}, {document.Host.Cores} cores, {document.Host.OperatingSystem}, {document.Host.Runtime}";
        if (document.Servers.Count > 0)
            yield return $"Servers, of the kit's own: {RunFacts.Listed(document.Servers)}";
        yield return $"Packages: {RunFacts.Listed(document.Packages)}";
        yield return SpeedsOf(document);
    }

    private static string SpeedsOf(FaultDocument document) => document.Speeds is not { } speeds
        ? "msg/s: of no run; name one with --speed-from"
        : $"msg/s: means of the fault-free run {speeds.Folder}, commit {CommitOf(speeds.Commit)}"
          + (speeds.Commit?.Id == document.Commit?.Id && speeds.Commit is { Dirty: false } && document.Commit is { Dirty: false }
              ? ""
              : " – not the build of these experiments");

    private static string CommitOf(GitCommit? commit) => commit is null ? "unknown" : commit.Id[..12] + (commit.Dirty ? " with changes" : "");

    private IEnumerable<ReportTable> Tables()
    {
        var storms = ordered.Where(result => result.Storm is not null).ToList();
        var singles = ordered.Where(result => result.Storm is null).ToList();
        if (storms.Count > 0)
        {
            yield return SignatureOf("Storms: kills of the handler process and cuts of its connections", storms);
            yield return RatesOf(storms);
        }

        if (singles.Exists(result => result.Messages > 0))
            yield return SignatureOf("Single faults: all messages, those that met a fault and the others", [.. singles.Where(result => result.Messages > 0)]);
        foreach (var group in singles.GroupBy(result => result.Cell.Group))
            yield return GridOf(group.Key, [.. group]);
    }

    private ReportTable SignatureOf(string title, IReadOnlyList<FaultResult> chosen) => new(
        title,
        [.. Signature.Take(ColumnsBeforeSpeed).Select(column => column.Header), "msg/s", .. Signature.Skip(ColumnsBeforeSpeed).Select(column => column.Header)],
        [
            .. chosen.GroupBy(result => result.Cell).Select(group => (IReadOnlyList<string>)
            [
                .. Signature.Take(ColumnsBeforeSpeed).Select(column => column.Text([.. group])),
                Figures.Measured(document.Speeds?.Of(group.Key)),
                .. Signature.Skip(ColumnsBeforeSpeed).Select(column => column.Text([.. group])),
            ]),
        ],
        "The handler writes two rows and sends one message. Each message is counted once, by the worst that became of it: " +
        "torn is a handler's work that is half done, zombie rows whose message was not sent or was given up, ghost a sent message without its rows, " +
        "dup rows or sent messages twice, error given up without an effect.");

    private static ReportTable RatesOf(IReadOnlyList<FaultResult> storms) => new(
        "Storms: for each handler that could be running at a kill or cut",
        ["framework", "transport", "mode", "in flight", .. Rated.Select(rate => rate.Header), "seed", "verdict"],
        [
            .. storms.Select(result => (IReadOnlyList<string>)
            [
                result.Cell.Framework, result.Cell.Transport, result.Cell.Mode, Figures.Count(result.Storm!.InFlight),
                .. Rated.Select(rate => RateOf(result, rate.Class)), Figures.Plain(result.Storm.Seed), Words.Of(result.Verdict),
            ]),
        ],
        "In flight is kills and cuts times concurrency. " +
        "Messages of the class for each of them; where there was none, the upper end of the 95 % interval (3/n). " +
        "More than one means that more was lost or doubled than was being handled: what a broker had pushed ahead.");

    private static string RateOf(FaultResult result, DeliveryClass kind)
    {
        var messages = result.Observed.FirstOrDefault(seen => seen.Class == kind)?.Messages ?? 0;
        var inFlight = result.Storm!.InFlight;
        return inFlight == 0 ? Figures.None
            : messages == 0 ? $"< {Figures.Measured(RuleOfThree.UpperBound(inFlight))}"
            : Figures.Measured((double)messages / inFlight);
    }

    private static ReportTable GridOf(CellGroup group, IReadOnlyList<FaultResult> singles)
    {
        var modes = TransactionMode.All.Select(mode => mode.Name).Where(name => singles.Any(result => result.Cell.Mode == name)).ToList();
        var byPlace = singles.ToDictionary(result => (result.Fault, result.Cell.Mode));
        return new ReportTable(
            $"{group}: promise and observation",
            ["fault", .. modes],
            [
                .. from fault in Fault.All
                   where singles.Any(result => result.Fault == fault.Name)
                   select (IReadOnlyList<string>)
                   [
                       fault.Name,
                       .. modes.Select(mode => byPlace.TryGetValue((fault.Name, mode), out var result) ? PlaceOf(result) : Figures.None),
                   ],
            ],
            "Before the colon the classes that are promised to the message that meets the fault, after it what was observed; "
            + "≠ marks a promise that was not kept."
            + (singles.Any(result => result.Known is not null)
                ? " (known): to this message or a neighbour, for a reason that stands under 'Promises not kept'."
                : ""));
    }

    private static string PlaceOf(FaultResult result) => result.Verdict switch
    {
        FaultVerdict.NoWindow => "no window",
        FaultVerdict.Void => "VOID",
        FaultVerdict.Failed => "FAILED",
        _ => $"{(result.Verdict is FaultVerdict.Broken ? "≠ " : "")}{string.Join('/', result.Promised.Select(Words.Of))}: " +
            $"{ObservedOf(result)}{(result.Known is null ? "" : " (known)")}",
    };

    /// <summary>Counts where a server's crash met every message.</summary>
    private static string ObservedOf(FaultResult result)
    {
        var met = result.Observed.Sum(seen => seen.Messages);
        return string.Join('+', result.Observed.Select(seen =>
            met > result.Observed.Count
                ? $"{Figures.Count(seen.Messages)} {Words.Of(seen.Class)}"
                : Words.Of(seen.Class)));
    }

    private IEnumerable<(string Title, IReadOnlyList<string> Lines)> Lists()
    {
        var broken = ordered.Where(result => result.Verdict is FaultVerdict.Broken).ToList();
        if (broken.Count > 0)
            yield return ("Promises not kept", [.. broken.SelectMany(Findings)]);

        var windows = ordered.Where(result => result.Storm?.Windows is not null).ToList();
        if (windows.Count > 0)
            yield return (
                "Kills of two-phase commit",
                [.. windows.Select(result => $"{result.Name}: {Figures.Count(result.Storm!.Kills)} kills; {result.Storm.Windows}")]);

        var failed = ordered.Where(result => result.Verdict is FaultVerdict.Void or FaultVerdict.Failed).ToList();
        if (failed.Count > 0)
            yield return ("Experiments that show nothing", [.. failed.Select(result => $"{result.Name}: {result.Because}")]);

        var without = ordered.Where(result => result.Verdict is FaultVerdict.NoWindow).ToList();
        if (without.Count > 0)
        {
            yield return ("No window", [.. without.GroupBy(result => (result.Cell.Mode, result.Fault, result.Because)).Select(group =>
                $"{group.Key.Fault} in {group.Key.Mode} " +
                $"({string.Join(", ", group.Select(result => $"{result.Cell.Framework}/{result.Cell.Transport}"))}): {group.Key.Because}")]);
        }

        var faults = Fault.All.Where(fault => ordered.Any(result => result.Fault == fault.Name)).ToList();
        if (faults.Count > 0)
            yield return ("Faults", [.. faults.Select(fault => $"{fault.Name}: {fault.What}")]);
        if (document.LeftOut.Count > 0)
            yield return ("Left out", [.. document.LeftOut.Select(left => $"{left.Cell}: {left.Because}")]);
    }

    private static IEnumerable<string> Findings(FaultResult result)
    {
        yield return $"{result.Name}: {Figures.Count(result.ViolationCount)} of {Figures.Count(result.Messages)} messages; {string.Join("; ", result.Fired)}";
        if (result.Known is { } reason)
            yield return $"{result.Name}: known: {reason}";
        foreach (var violation in result.Violations)
            yield return $"{result.Name}: {violation.Because} [{string.Join("; ", violation.Evidence)}]";
    }

    private sealed record Column(string Header, Func<IReadOnlyList<FaultResult>, string> Text);

    private sealed record ReportTable(string Title, IReadOnlyList<string> Headers, IReadOnlyList<IReadOnlyList<string>> Rows, string Legend);
}
