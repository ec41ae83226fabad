using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>report</c>: renders the tables of a stored run again.</summary>
internal sealed class ReportCommand : KitCommand
{
    private readonly Argument<string> folder = new("folder") { Description = "The folder of a run, of experiments with faults, or of both." };
    private readonly Option<bool> check = new("--check")
    {
        Description = "Write nothing: check that the folder holds a complete run, and that its reports match its rounds and experiments (exit code 1 if not).",
    };

    private readonly Option<string?> html = new("--html")
    {
        Description = "Then write the folder's page, which needs no other file and no network (<folder>-page/index.html), and next to it results.json "
            + "and a badge for each cell with a storm.",
        HelpName = "file.html",
        Arity = ArgumentArity.ZeroOrOne,
    };

    private readonly Option<string[]> faultsFrom = new("--faults-from")
    {
        Description = "With --html: a folder with more experiments on the same cells. Can be repeated.",
        HelpName = "folder",
    };

    private readonly Option<bool> replace = new("--replace")
    {
        Description = "With --html: replace an existing page, and delete from the folder of its badges those of cells that it has no badge for.",
    };

    public ReportCommand()
        : base(
            "report",
            "Renders the tables of a stored run again: on the terminal, and as tables.md, rounds.csv and graphs.svg in its folder. " +
            "For experiments with faults: guarantees.md and guarantees.csv. For a load: load.md and load.csv; of 'prove': proof.md or drain.md.",
            ("report results/my-run", "the tables of a run, and of its experiments"),
            ("report results/my-run --check", "whether a run is complete and its reports are those of its rounds, before it is handed in"),
            ("report results/my-run --html", "the page of a run, in results/my-run-page"),
            ("report results/my-run --html page/index.html --faults-from results/my-kills --replace", "with more experiments, over an earlier page"))
    {
        Arguments.Add(folder);
        Options.Add(check);
        html.NotEmpty();
        Options.Add(html);
        Options.Add(faultsFrom);
        Options.Add(replace);
        Validators.Add(CheckTogether);
        SetAction((parsed, _) => ReportAsync(parsed));
    }

    private async Task<int> ReportAsync(ParseResult parsed)
    {
        var path = parsed.GetRequiredValue(folder);
        var isCheck = parsed.GetValue(check);
        if (StoredReport.In(path) is { } report)
        {
            if (isCheck || IsGiven(parsed.CommandResult, html))
            {
                throw new KitException($"{path} holds {report.Kind}, and checks and pages are made of runs.", "Leave out --check and --html.")
                {
                    IsUsage = true,
                };
            }

            report.Write(Console.Out, Width);
            return ExitCode.Success;
        }

        var stored = ResultFolder.Load(path);
        if (!isCheck)
            stored.WriteReports();
        stored.WriteTerminal(Console.Out, Width);
        if (isCheck)
        {
            stored.RequireWhole();
            Console.Out.WriteLine("\nThe run is complete, and every report matches the stored rounds and experiments.");
            return ExitCode.Success;
        }

        if (stored.Run is not null)
            Console.Out.WriteLine($"\nTables and graphs: {RunFolder.Open(path).ReportPath}");
        if (stored.Guarantees is not null)
            Console.Out.WriteLine($"\nGuarantees: {new FaultFolder(path).ReportPath}");
        if (IsGiven(parsed.CommandResult, html))
        {
            var content = PageOf.ContentOf(stored, parsed.GetValue(faultsFrom) ?? []);
            await PageOf.WriteAsync(content, parsed.GetValue(html) ?? PageOf.DefaultPathOf(path), parsed.GetValue(replace), Console.Out);
        }

        return ExitCode.Success;
    }

    private void CheckTogether(CommandResult result)
    {
        if (!IsGiven(result, html) && (IsGiven(result, faultsFrom) || IsGiven(result, replace)))
            result.AddError($"{faultsFrom.Name} and {replace.Name} belong to {html.Name}.");
        if (!IsGiven(result, html))
            return;
        if (result.GetValue(check))
            result.AddError($"{check.Name}: writes nothing; leave out {html.Name}.");
        if (result.GetValue(html) is { } file && !file.EndsWith(".html", StringComparison.OrdinalIgnoreCase))
            result.AddError($"{html.Name}: expected a file that ends with .html, found '{file}'.");
    }
}
