using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Transports;

namespace Kit.Runner.Choosing;

/// <summary>Writes advice: a line for each framework and transport, and in full if there is only one.</summary>
/// <param name="run">The run whose rates are shown; <see langword="null"/> for none.</param>
/// <param name="output">Where to.</param>
internal sealed class AdviceText(RecordedRun? run, TextWriter output)
{
    public void Write(IReadOnlyList<Advice> all)
    {
        PlainColumns.Write(
            ["framework", "transport", "take", "after a crash", "msg/s"],
            [
                .. all.Select(advice => (IReadOnlyList<string>)
                [
                    advice.Framework, advice.Transport, advice.Cell?.Mode.Name ?? "no mode", ClassesOf(advice), RateOf(advice),
                ]),
            ],
            output);
        if (all is [var one])
            WriteInFull(one);
        else
            output.WriteLine("For the reasons, the experiment and the code, add --framework and --transport.");

        output.WriteLine("What the classes mean, and what the rules leave out: docs/choosing-a-mode.md");
    }

    private static string ClassesOf(Advice advice) => advice.Cell is null ? Figures.None : Words.Of(advice.AfterCrashes);

    private string RateOf(Advice advice) => run is null || advice.Cell is not { } cell
        ? Figures.None
        : CellRate.Of(run, advice.Framework, advice.Transport, cell.Mode.Name) ?? "not in the run";

    private void WriteInFull(Advice advice)
    {
        foreach (var (mode, because) in advice.LeftOut)
            output.WriteLine($"{mode} would come before, but cannot run there: {because}.");

        if (advice.Cell is not { } cell)
        {
            output.WriteLine(
                $"No mode of {advice.Framework} on {advice.Transport} gives the handler that. Make it idempotent (--tolerates twice), or name another " +
                "framework or transport.");
            return;
        }

        var filter = $"--framework {advice.Framework} --transport {advice.Transport} --mode {cell.Mode}";
        output.WriteLine($"{cell.Mode}: {cell.Mode.Promise}");
        output.WriteLine();
        output.WriteLine("What would refute this advice, on your machine:");
        output.WriteLine($"  ./run.sh faults {filter}");
        output.WriteLine($"  ./run.sh faults --storm {filter}");
        output.WriteLine("What it costs, on your machine:");
        output.WriteLine($"  ./run.sh run --framework {advice.Framework} --transport {advice.Transport} --mode {cell.Mode},dtc-off");
        output.WriteLine();
        output.WriteLine("In your service:");
        foreach (var line in CodeOf(cell))
            output.WriteLine($"  {line}");

        output.WriteLine("  The whole snippet, and the handler: docs/use-an-endpoint.md");
        output.WriteLine();
    }

    /// <summary>The lines that set the mode.</summary>
    /// <exception cref="NotSupportedException">Nobody has written them for the framework.</exception>
    private static IEnumerable<string> CodeOf(Cell cell) => cell.Kind.Framework switch
    {
        "bare" => [$".{Transport.Of(cell).BareCodeOf(cell.Mode)}", $".UseTransactionMode({ModeOf(cell.Mode)})"],
        "masstransit" => [$"endpoint.UseTransactionMode({ModeOf(cell.Mode)}, context);"],
        "nservicebus" => [$"endpoint.UseTransactionMode({Transport.Of(cell).NServiceBusCodeOf(cell.Mode)}, {ModeOf(cell.Mode)});"],
        var other => throw new NotSupportedException($"It is not written how an endpoint on {other} gets its mode."),
    };

    private static string ModeOf(TransactionMode mode) => $"TransactionMode.Parse(\"{mode}\")";
}
