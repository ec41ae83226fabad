using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Choosing;

/// <summary>Writes advice: a line for each framework and transport, and in full if there is only one.</summary>
/// <param name="measured">The run whose rates are shown, and its folder; <see langword="null"/>: none.</param>
/// <param name="load">The handler's other work, and its rate.</param>
internal sealed class AdviceText((string Folder, RecordedRun Run)? measured, HandlerLoad load, TextWriter output)
{
    public void Write(IReadOnlyList<Advice> all)
    {
        PlainColumns.Write(
            ["framework", "transport", "take", "after a crash"],
            [.. all.Select(advice => (IReadOnlyList<string>)[advice.Kind.Framework, advice.Kind.Transport, TakeOf(advice), ClassesOf(advice)])],
            output);
        if (measured is var (folder, run))
            WriteRates(folder, run, [.. all.Where(advice => advice.Cell is not null)]);

        if (load.CallsOutside)
        {
            output.WriteLine(
                $"{NeedsInWords.CallsOutside} To count your handler's calls at every crash point: ./run.sh prove, docs/tutorials/prove-your-service.md");
        }

        if (all is [var one])
            WriteInFull(one);
        else
            output.WriteLine("For the reasons, the experiment and the code, add --framework and --transport.");

        output.WriteLine("What the classes mean, and what the rules leave out: docs/tutorials/choose-a-mode.md");
    }

    /// <summary>The advised mode in words.</summary>
    internal static string TakeOf(Advice advice) => advice switch
    {
        { Kind.InBuild.IsSupported: false } => "not in this build",
        { Cell: null } => "no mode",
        { Cell: { } cell } => cell.Mode + (cell.Support.IsSupported ? "" : ", cannot run here") + (advice.Transport.HasBeenRun ? "" : ", not run yet"),
    };

    /// <summary>The classes after a crash.</summary>
    internal static string ClassesOf(Advice advice) => advice.Cell is null ? Figures.None : Words.Of(advice.AfterCrashes);

    private void WriteRates(string folder, RecordedRun run, IReadOnlyList<Advice> advised)
    {
        if (advised.Count == 0)
            return;

        output.WriteLine($"Measured in {folder}:{(run.Document.Settings.Quick ? " a quick run, which shows that it works, and not how fast it is." : "")}");
        PlainColumns.Write(
            [
                "framework", "transport", "mode", "the handler", "msg/s (95 % interval)", $"ratio to {TransactionMode.TransactionsOff}",
                .. load.PerSecond is { } asked ? [$"a drain reaches {Figures.Measured(asked)}/s"] : Array.Empty<string>(),
            ],
            [
                .. from name in advised.Select(advice => advice.Name!)
                   from rate in CellRate.Of(run, name).DefaultIfEmpty()
                   select (IReadOnlyList<string>)
                   [
                       name.Framework, name.Transport, ModeOf(name), rate is null ? Figures.None : rate.Scenario ?? Scenario.Insert.Name,
                       rate?.PerSecond ?? "not in the run", rate?.ToTransactionsOff ?? Figures.None,
                       .. load.PerSecond is { } wanted ? [rate?.Reaches(wanted) ?? Figures.None] : Array.Empty<string>(),
                   ],
            ],
            output);
        foreach (var warning in run.Warnings)
            output.WriteLine(warning);
        if (load.Rate is not { } rateOfLoad)
            return;

        var settings = run.Document.Settings;
        var of = (advised is [{ Cell: { } only }] ? $"{Advice.NamesOf(only)} " : "") +
            $"--mode {string.Join(',', advised.Select(advice => advice.Cell!.Mode.Name).Distinct())}";
        output.WriteLine(
            $"{CellRate.OfArrivals}. It had {Figures.Plain(settings.Concurrency)} messages at a time on {Figures.Plain(run.Document.Host.Cores)} cores. " +
            $"How long a message takes at your rate: ./run.sh load {of} --rate {rateOfLoad}, docs/guides/load.md");
    }

    /// <summary>The mode, and the other choices that the cell's name makes.</summary>
    private static string ModeOf(CellName name) => string.Join(
        ", ",
        name.Values.Where(value => !new[] { Axis.Framework.Name, Axis.Transport.Name, Axis.Access.Name }.Contains(value.Axis)).Select(value => value.Value));

    private void WriteInFull(Advice advice)
    {
        var place = $"{advice.Kind.Framework} on {advice.Kind.Transport}";
        if (advice.Kind.InBuild.Because is { } absent)
        {
            output.WriteLine(
                $"{place} is not in this build: {absent}. So this build cannot say which of its modes exist; results of another build may have them.");
            return;
        }

        foreach (var (mode, because) in advice.LeftOut)
            output.WriteLine($"{mode} {(advice.Cell is null ? "cannot run there" : "fits better, but cannot run there")}: {because}.");

        if (advice.Cell is not { } cell)
        {
            output.WriteLine(
                $"No mode of {place} gives the handler that. Make it idempotent (--tolerates twice; in one statement: twice-one-statement), " +
                "or name another framework or transport.");
            return;
        }

        output.WriteLine($"{cell.Mode}: {cell.Mode.Promise}");
        if (cell.Support.Because is { } lacking)
            output.WriteLine($"{cell.Mode} cannot run here: {lacking}.");
        if (!advice.Transport.HasBeenRun)
            output.WriteLine($"Nobody has run the cells on {advice.Transport.Title} yet: the promise is untested there.");

        output.WriteLine();
        WriteExperiments(advice, cell);
        output.WriteLine("In your service:");
        foreach (var line in cell.Kind.CodeOf(cell.Mode))
            output.WriteLine($"  {line}");

        output.WriteLine("  The whole snippet, and the handler: docs/tutorials/use-an-endpoint.md");
        output.WriteLine();
    }

    private void WriteExperiments(Advice advice, Cell cell)
    {
        if (FaultPlan.SupportAnywhere(cell).Because is { } because)
        {
            output.WriteLine($"No experiment of the kit can refute this advice: {because}.");
        }
        else
        {
            output.WriteLine("What would refute this advice, on your machine:");
            foreach (var command in advice.Experiments)
                output.WriteLine($"  {command}");
        }

        if (cell.Support.IsSupported)
        {
            var modes = string.Join(',', new[] { cell.Mode, TransactionMode.DtcOff }.Distinct());
            output.WriteLine("What it costs, on your machine:");
            output.WriteLine($"  ./run.sh run {Advice.NamesOf(cell)} --mode {modes}{ServerOf(Transport.Of(cell))}");
        }

        output.WriteLine();
    }

    /// <summary>The option for a server that the kit does not start.</summary>
    private static string ServerOf(Transport transport) => transport is { Server: { } server, Own: null } ? $" {server.Option} \"<{server.HelpName}>\"" : "";
}
