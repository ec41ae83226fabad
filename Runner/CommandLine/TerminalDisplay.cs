using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Spectre.Console;

namespace Kit.Runner.CommandLine;

/// <summary>A run on a terminal: a bar for what is under way, one for the whole run with the time that is left, a line for each round.</summary>
internal sealed class TerminalDisplay : IRunDisplay
{
    private readonly ProgressContext context;
    private ProgressTask? whole;
    private ProgressTask? current;

    private TerminalDisplay(ProgressContext context) => this.context = context;

    public static Task<T> ShowAsync<T>(Func<IRunDisplay, Task<T>> run) =>
        AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .StartAsync(context => run(new TerminalDisplay(context)));

    public void Note(string what) => AnsiConsole.MarkupLineInterpolated($"{what}");

    public IProgress<int> Count(string what, int total)
    {
        current?.StopTask();
        if (current is not null)
            current.Value = current.MaxValue;

        current = context.AddTask(Markup.Escape(what), autoStart: true, total);
        return new Bar(current);
    }

    public void Finished(RoundDocument round, int done, int planned)
    {
        AnsiConsole.MarkupLineInterpolated($"{RoundLine.Of(round)}");
        whole ??= context.AddTask("whole run", autoStart: true, planned);
        whole.MaxValue = planned;
        whole.Value = done;
    }

    private sealed class Bar(ProgressTask task) : IProgress<int>
    {
        public void Report(int value) => task.Value = value;
    }
}
