using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>list</c>: every cell, runnable or not.</summary>
internal sealed class ListCommand : KitCommand
{
    private readonly CellFilter filter = new(isMatrix: false, ofRounds: false);
    private readonly Option<bool> modes = new("--modes") { Description = "What each mode is and promises, instead of the cells." };
    private readonly Option<bool> scenarios = new("--scenarios") { Description = "What the handler of each scenario does, instead of the cells." };
    private readonly Option<bool> conditions = new("--conditions") { Description = "What each condition changes in a round, instead of the cells." };
    private readonly Option<bool> flushes = new("--flushes") { Description = "Which commits wait for the log at each setting, instead of the cells." };
    private readonly Option<bool> distances = new("--round-trips")
    {
        Description = "What each setting of --rtt puts between an endpoint and its servers, instead of the cells.",
    };
    private readonly Option<bool> faults = new("--faults") { Description = "What goes wrong in each fault, instead of the cells." };
    private readonly Option<bool> promises = new("--promises") { Description = "What each mode promises under each fault, instead of the cells." };

    public ListCommand()
        : base(
            "list",
            "Shows which modes run on which framework and transport, and why the others cannot. With a filter: each of its cells " +
            $"({string.Join(", ", Shown.Select(axis => axis.Plural))}), with the reason for each that cannot run.",
            ("list", "which modes run where"),
            ("list --access all", "every cell"),
            ("list --mode full-dtc --access ado", "which cells can run full-dtc"),
            ("list --modes", "what commits with what in each mode"),
            ("list --scenarios", "what the measured handlers do"),
            ("list --conditions", "what can be different in a round"),
            ("list --flushes", "which commits wait for the log"),
            ("list --faults", "what can go wrong"),
            ("list --promises --mode outbox", "what outbox promises under each fault"))
    {
        filter.AddTo(this);
        Add(modes);
        Add(promises);
        Add(scenarios);
        Add(conditions);
        Add(flushes);
        Add(distances);
        Add(faults);
        Validators.Add(OnlyOne);
        SetAction(List);
    }

    private int List(ParseResult parsed)
    {
        var cells = filter.Choose(parsed);
        if (parsed.GetValue(modes))
        {
            ModeText.Write(cells.Select(cell => cell.Mode).Distinct(), Console.Out);
            return ExitCode.Success;
        }

        if (parsed.GetValue(promises))
        {
            PromiseText.Write(cells.Select(cell => cell.Mode).Distinct(), Console.Out);
            return ExitCode.Success;
        }

        if (parsed.GetValue(scenarios))
        {
            Write(Scenario.All.Select(scenario => (scenario.Name, scenario.What)), Axis.Scenario.Implied, Console.Out);
            return ExitCode.Success;
        }

        if (parsed.GetValue(flushes))
        {
            Write(LogFlush.All.Select(flush => (flush.Name, flush.What)), Axis.Flush.Implied, Console.Out);
            return ExitCode.Success;
        }

        if (parsed.GetValue(distances))
        {
            Write(RoundTripTime.All.Select(trip => (trip.Name, trip.What)), Axis.RoundTrip.Implied, Console.Out);
            return ExitCode.Success;
        }

        if (parsed.GetValue(faults))
        {
            Write(Fault.All.Select(fault => (fault.Name, fault.What)), implied: null, Console.Out);
            return ExitCode.Success;
        }

        if (parsed.GetValue(conditions))
        {
            Write(Condition.All.Select(condition => (condition.Name, condition.What)), Axis.Condition.Implied, Console.Out);
            return ExitCode.Success;
        }

        if (filter.Typed(parsed).Count == 0)
            WriteMatrix(cells, TransportArguments.FromEnvironment(), Console.Out);
        else
            Write(cells, TransportArguments.FromEnvironment(), Console.Out);
        return ExitCode.Success;
    }

    private void OnlyOne(CommandResult parsed)
    {
        Option<bool>[] instead = [modes, promises, scenarios, conditions, flushes, distances, faults];
        if (instead.Count(parsed.GetValue) > 1)
            parsed.AddError($"{string.Join(", ", instead.SkipLast(1).Select(option => option.Name))} and {instead[^1].Name}: expected at most one of them.");
        if (instead[2..].FirstOrDefault(parsed.GetValue) is not { } asWhole)
            return;
        foreach (var option in filter.Options.Where(option => IsGiven(parsed, option)))
            parsed.AddError($"{option.Name}: does not apply to {asWhole.Name}, which shows the same for every cell. Leave it out.");
    }

    // Scenarios and conditions would repeat the same lines.
    private static IEnumerable<Axis> Shown => CellFilter.Shown(ofRounds: false);

    private static void Write(IEnumerable<(string Name, string What)> values, string? implied, TextWriter output)
    {
        var lines = values.ToList();
        var width = lines.Max(line => line.Name.Length);
        foreach (var (name, what) in lines)
            output.WriteLine($"{name.PadRight(width)}  {what}{(name == implied ? " (the default)" : "")}");
    }

    internal static void Write(IReadOnlyList<Cell> cells, TransportArguments arguments, TextWriter output)
    {
        if (cells.Count == 0)
        {
            output.WriteLine(ChosenCells.NoSuchCell);
            return;
        }

        var columns = Shown
            .Where(axis => axis.Implied is null || !cells.All(axis.HasImplied))
            .Select(axis => (Axis: axis, Width: cells.Max(cell => axis.ValueOf(cell).Length)))
            .ToList();
        foreach (var cell in cells)
        {
            var names = columns.Select(column => column.Axis.ValueOf(cell).PadRight(column.Width));
            output.WriteLine($"{string.Join("  ", names)}  {SupportOf(cell, arguments).Because ?? "can run"}");
        }

        output.WriteLine();
        output.WriteLine(CountOf(cells, arguments));
    }

    /// <summary>The modes that run on each framework and transport, and then each reason why others cannot, once.</summary>
    internal static void WriteMatrix(IReadOnlyList<Cell> cells, TransportArguments arguments, TextWriter output)
    {
        PlainColumns.Write(
            ["framework", "transport", "modes"],
            [
                .. from cell in cells
                   group cell by (cell.Kind.Framework, cell.Kind.Transport) into kind
                   let running = kind.Where(cell => SupportOf(cell, arguments).IsSupported).ToList()
                   select (IReadOnlyList<string>)[kind.Key.Framework, kind.Key.Transport, running.Count == 0 ? Figures.None : NamesOf(running)],
            ],
            output);
        foreach (var reason in cells.Where(cell => !SupportOf(cell, arguments).IsSupported).GroupBy(cell => SupportOf(cell, arguments).Because))
        {
            output.WriteLine($"Cannot run: {reason.Key}");
            foreach (var kind in reason.GroupBy(cell => (cell.Kind.Framework, cell.Kind.Transport)))
                output.WriteLine($"  {kind.Key.Framework}  {kind.Key.Transport}  {NamesOf(kind)}{WithOf(kind)}");
            output.WriteLine();
        }

        output.WriteLine($"{CountOf(cells, arguments)} Each with its reason: list --access all");

        string WithOf(IEnumerable<Cell> kind)
        {
            var libraries = kind.Select(cell => cell.Access).Distinct().ToList();
            return libraries.Count == cells.Select(cell => cell.Access).Distinct().Count()
                ? ""
                : $" (with {string.Join(", ", libraries.Select(access => access.Name))})";
        }
    }

    private static string NamesOf(IEnumerable<Cell> cells) => cells.Select(cell => cell.Mode).Distinct().ToList() is var modes
        && modes.Count == TransactionMode.All.Count ? "every mode" : string.Join(", ", modes.Select(mode => mode.Name));

    private static string CountOf(IReadOnlyList<Cell> cells, TransportArguments arguments) =>
        $"{cells.Count(cell => SupportOf(cell, arguments).IsSupported)} of {cells.Count} cells can run.";

    // What is installed is reported by the doctor.
    private static Support SupportOf(Cell cell, TransportArguments arguments) =>
        cell.Support.IsSupported ? Transport.Of(cell).SupportAnywhere(arguments) : cell.Support;
}
