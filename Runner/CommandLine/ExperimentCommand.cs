using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Results;
using Kit.Runner.Results.Published;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>experiment</c>: repeats a published experiment, and sets its ratios next to ours.</summary>
internal sealed class ExperimentCommand : KitCommand
{
    private readonly Argument<string?> name = new("name") { Description = "The experiment; --list shows them.", Arity = ArgumentArity.ZeroOrOne };
    private readonly Option<bool> list = new("--list") { Description = "What was published, and the command that repeats it." };
    private readonly Option<bool> quick = new("--quick")
    {
        Description = "About a minute, to see that it works: do not cite its figures.",
    };
    private readonly Option<bool> full = new("--full") { Description = "Minutes to hours for each load, up to what was published, instead of minutes in all." };
    private readonly Option<string?> from = new("--from")
    {
        Description = "Run nothing: compare with a run that is there, and only print it.",
        HelpName = "folder",
    };
    private readonly Option<string?> output = Out("A new folder for the results (results/, named by date and commit).");

    public ExperimentCommand()
        : base(
            "experiment",
            "Repeats an experiment that others have published, with 'run' and 'load', and sets their ratios next to ours: in experiment.md, in the folder of " +
            "the results. Exit code 1 if a round or a load was INVALID or failed.",
            ("experiment --list", "what can be repeated"),
            ("experiment nservicebus-2014", "the benchmark that the kit follows, with all its rounds"),
            ("experiment neuron-pooling-2017", "another one, in some minutes"),
            ("experiment neuron-pooling-2017 --quick", "the same in about a minute, to see that it works"),
            ("experiment neuron-pooling-2017 --full", "the same for hours"),
            ("experiment nservicebus-2014 --from results/my-run", "the same table from results that are there"))
    {
        Arguments.Add(name);
        from.NotEmpty();
        foreach (var option in new Option[] { list, quick, full, from, output })
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
            ExperimentReport.WriteTerminal(experiment, Repetition.In(folder, experiment), Console.Out, Width);
            return ExitCode.Success;
        }

        return await RepeatAsync(
            experiment,
            parsed.GetValue(quick) ? ExperimentLength.Quick : parsed.GetValue(full) ? ExperimentLength.Full : ExperimentLength.Scaled,
            await FolderAsync(parsed.GetValue(output), cancellationToken),
            cancellationToken);
    }

    private static async Task<int> RepeatAsync(PublishedExperiment experiment, ExperimentLength length, string folder, CancellationToken cancellationToken)
    {
        RunName.RequireNew(folder);
        await Console.Out.WriteLineAsync(experiment.Question);
        var worst = ExitCode.Success;
        foreach (var (at, command) in experiment.Commands.Index())
        {
            string[] arguments = [.. command.At(length), "--out", experiment.FolderOf(folder, command)];
            await Console.Out.WriteLineAsync(
                $"Command{(experiment.Commands.Count > 1 ? $" {at + 1} of {experiment.Commands.Count}" : "")}: {string.Join(' ', arguments)}");
            var code = await TypedCommand.RunAsync(arguments, cancellationToken);
            if (code is not (ExitCode.Success or ExitCode.Failure))
                return Stopped(experiment, folder, code);
            worst = Math.Max(worst, code);
        }

        var repetition = Repetition.In(folder, experiment);
        ExperimentReport.FileOf(experiment, repetition).WriteTo(folder);
        ExperimentReport.WriteTerminal(experiment, repetition, Console.Out, Width);
        await Console.Out.WriteLineAsync($"\nReport: {Path.Combine(folder, ExperimentReport.FileName)}");
        return worst;
    }

    /// <summary>Keeps the results until it was stopped, and shows them as far as they make a table.</summary>
    private static int Stopped(PublishedExperiment experiment, string folder, int code)
    {
        var repetition = Repetition.SoFarIn(folder, experiment);
        if (repetition.IsEmpty)
            return code;
        // A load that was stopped does not go on, so it is as complete as it becomes.
        if (experiment.Commands.Count > 1 || repetition.HasLoads)
        {
            ExperimentReport.WriteTerminal(experiment, repetition, Console.Out, Width);
            Console.Out.WriteLine($"Stopped. What was measured is kept. See it again with: experiment {experiment.Name} --from {folder}");
        }
        else
        {
            Console.Out.WriteLine($"When it is complete: experiment {experiment.Name} --from {folder}");
        }

        return code;
    }

    private static int List(TextWriter output)
    {
        foreach (var experiment in PublishedExperiment.All)
        {
            output.WriteLine(experiment.Name);
            output.WriteLine($"  {experiment.Question}");
            if (experiment.Tables.SelectMany(table => table.Rows).Where(row => row.PerSecond is not null).ToList() is { Count: > 0 } known)
                output.WriteLine($"  Published: {string.Join(", ", known.Select(row => $"{row.Title} {row.Figure} msg/s"))}.");
            output.WriteLine($"  {experiment.Source}.");
            foreach (var command in experiment.Commands)
                output.WriteLine($"  Repeated by: {string.Join(' ', command.At(ExperimentLength.Scaled))}");
        }

        return ExitCode.Success;
    }

    private void CheckTogether(CommandResult result)
    {
        var isList = result.GetValue(list);
        if (isList && (result.GetValue(name) is not null || IsGiven(result, quick) || IsGiven(result, full) || IsGiven(result, from)
            || IsGiven(result, output)))
            result.AddError("--list: shows every experiment and runs none; leave out the rest.");
        var names = string.Join(", ", PublishedExperiment.All.Select(one => one.Name));
        if (!isList && result.GetValue(name) is null)
            result.AddError($"expected the name of an experiment ({names}), or --list.");
        if (!isList && result.GetValue(name) is { } typed && PublishedExperiment.Find(typed) is null)
            result.AddError($"unknown experiment '{typed}'. Experiments: {names}.");
        if (IsGiven(result, from) && (IsGiven(result, quick) || IsGiven(result, full) || IsGiven(result, output)))
            result.AddError("--from: runs nothing; leave out --quick, --full and --out.");
        if (IsGiven(result, quick) && IsGiven(result, full))
            result.AddError("--quick: makes it short, and --full makes it long; leave out one of the two.");
    }
}
