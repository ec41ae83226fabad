using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Results;
using Kit.Runner.Results.Published;
using Kit.Runner.Rounds;

namespace Kit.Runner.CommandLine;

/// <summary><c>experiment</c>: repeats a published experiment, and sets its ratios next to ours.</summary>
internal sealed class ExperimentCommand : KitCommand
{
    private readonly Argument<string?> name = new("name") { Description = "The experiment; --list shows them.", Arity = ArgumentArity.ZeroOrOne };
    private readonly Option<bool> list = new("--list") { Description = "What was published, and the command that repeats it." };
    private readonly Option<bool> quick = new("--quick")
    {
        Description = "One round with fewer rows and messages, about a minute. For a trial: do not cite its figures.",
    };
    private readonly Option<string?> from = new("--from")
    {
        Description = "Run nothing: compare with a run that is there, and only print it.",
        HelpName = "folder",
    };
    private readonly Option<string?> output = new("--out")
    {
        Description = "A new folder for the results (results/, named by date and commit).",
        HelpName = "folder",
    };

    public ExperimentCommand()
        : base(
            "experiment",
            "Repeats an experiment that others have published, with 'run', and sets their ratios next to ours: in experiment.md, in the folder of the run.",
            ("experiment --list", "what can be repeated"),
            ("experiment nservicebus-2014", "the benchmark that the kit follows, with all its rounds"),
            ("experiment nservicebus-2014 --quick", "the same in about a minute, to see that it works"),
            ("experiment nservicebus-2014 --from results/my-run", "the same table from a run that is there"))
    {
        Arguments.Add(name);
        output.NotEmpty();
        from.NotEmpty();
        foreach (var option in new Option[] { list, quick, from, output })
            Options.Add(option);
        Validators.Add(CheckTogether);
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        if (parsed.GetValue(list))
            return List(Console.Out);

        var experiment = PublishedExperiment.Find(parsed.GetValue(name)!)!;
        if (parsed.GetValue(from) is { } folder)
        {
            ExperimentReport.WriteTerminal(experiment, RunFolder.Open(folder).Load(), Console.Out, ReportCommand.Width);
            return ExitCode.Success;
        }

        return await RepeatAsync(
            experiment,
            parsed.GetValue(quick),
            parsed.GetValue(output) ?? RunName.NewFolder("results", DateTimeOffset.UtcNow, await Provenance.CommitAsync(cancellationToken)),
            cancellationToken);
    }

    private static async Task<int> RepeatAsync(PublishedExperiment experiment, bool isQuick, string folder, CancellationToken cancellationToken)
    {
        string[] arguments = [.. isQuick ? experiment.QuickCommand : experiment.Command, "--out", folder];
        await Console.Out.WriteLineAsync($"{experiment.Question}\nCommand: {string.Join(' ', arguments)}");
        // As if it was typed. Ctrl+C reaches it by the token.
        var code = await new RootCommand { new RunCommand(arguments) }.Parse(arguments).InvokeAsync(
            new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null }, cancellationToken);
        if (code is not (ExitCode.Success or ExitCode.Failure))
        {
            if (RunFolder.IsIn(folder))
                await Console.Out.WriteLineAsync($"When the run is complete: experiment {experiment.Name} --from {folder}");
            return code;
        }

        var run = RunFolder.Open(folder).Load();
        ExperimentReport.FileOf(experiment, run).WriteTo(folder);
        ExperimentReport.WriteTerminal(experiment, run, Console.Out, ReportCommand.Width);
        await Console.Out.WriteLineAsync($"\nReport: {Path.Combine(folder, ExperimentReport.FileName)}");
        return code;
    }

    private static int List(TextWriter output)
    {
        foreach (var experiment in PublishedExperiment.All)
        {
            output.WriteLine(experiment.Name);
            output.WriteLine($"  {experiment.Question}");
            output.WriteLine($"  Published: {string.Join(", ", experiment.Rows.Select(row => $"{row.Title} {row.Figure} msg/s"))}.");
            output.WriteLine($"  {experiment.Source}.");
            output.WriteLine($"  Repeated by: {string.Join(' ', experiment.Command)}");
        }

        return ExitCode.Success;
    }

    private void CheckTogether(CommandResult result)
    {
        var isList = result.GetValue(list);
        if (isList && (result.GetValue(name) is not null || IsGiven(result, quick) || IsGiven(result, from) || IsGiven(result, output)))
            result.AddError("--list: shows every experiment and runs none; leave out the rest.");
        var names = string.Join(", ", PublishedExperiment.All.Select(one => one.Name));
        if (!isList && result.GetValue(name) is null)
            result.AddError($"expected the name of an experiment ({names}), or --list.");
        if (!isList && result.GetValue(name) is { } typed && PublishedExperiment.Find(typed) is null)
            result.AddError($"unknown experiment '{typed}'. Experiments: {names}.");
        if (IsGiven(result, from) && (IsGiven(result, quick) || IsGiven(result, output)))
            result.AddError("--from: runs nothing; leave out --quick and --out.");
    }
}
