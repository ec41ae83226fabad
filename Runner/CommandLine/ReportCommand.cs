using System.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.CommandLine;

/// <summary><c>report</c>: renders the tables of a run again.</summary>
internal sealed class ReportCommand : KitCommand
{
    private const int NarrowestTables = 140;

    private readonly Argument<string> folder = new("folder") { Description = "The folder of a run, or of experiments with faults." };

    public ReportCommand()
        : base(
            "report",
            "Renders the tables of a run again from its stored rounds: on the terminal, and tables.md, rounds.csv and graphs in its folder. " +
            "Of experiments with faults: guarantees.md and guarantees.csv.",
            ("report results/reference", "the run that comes with the kit"),
            ("report results/guarantees", "its experiments with faults"))
    {
        Arguments.Add(folder);
        SetAction(Report);
    }

    /// <summary>Columns of the terminal; files and pipes get wide lines.</summary>
    public static int Width => Console.IsOutputRedirected ? NarrowestTables : Math.Max(NarrowestTables, Console.WindowWidth);

    private int Report(ParseResult parsed)
    {
        var path = parsed.GetRequiredValue(folder);
        var experiments = new FaultFolder(path);
        if (experiments.Exists)
        {
            var report = new GuaranteeReport(experiments.LoadDocument(), experiments.LoadResults());
            experiments.WriteReports(report);
            report.WriteTerminal(Console.Out, Width);
            Console.Out.WriteLine($"\nTables: {experiments.TablesPath}");
            return ExitCode.Success;
        }

        var stored = RunFolder.Open(path);
        var run = stored.Load();
        stored.WriteReports(run);
        TerminalSummary.Write(run, Console.Out, Width);
        Console.Out.WriteLine($"\nTables and graphs: {stored.TablesPath}");
        return ExitCode.Success;
    }
}
