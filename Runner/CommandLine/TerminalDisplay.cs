using Kit.Runner.Rounds;
using Spectre.Console;

namespace Kit.Runner.CommandLine;

/// <summary>A run on a terminal: a line for each finished round, then a bar for the whole run and one for the current round.</summary>
internal sealed class TerminalDisplay : IRunDisplay
{
    private readonly ProgressContext context;
    private readonly RunProgress progress = new();
    private ProgressTask? whole;
    private ProgressTask? current;

    private TerminalDisplay(ProgressContext context) => this.context = context;

    public static Task<T> ShowAsync<T>(Func<IRunDisplay, Task<T>> run) =>
        AnsiConsole.Progress()
            .AutoClear(true)
            .HideCompleted(true)
            .Columns(new TaskDescriptionColumn { Alignment = Justify.Left }, new ProgressBarColumn(), new PercentageColumn())
            .StartAsync(context => run(new TerminalDisplay(context)));

    public void Note(string what) => AnsiConsole.MarkupLineInterpolated($"{what}");

    public IProgress<int> Seeding(int rows) => Begin("seeding rows", rows);

    public IProgress<int> Round(string name, int messages)
    {
        progress.Begin();
        whole ??= context.AddTask("all rounds", autoStart: true, maxValue: 1);
        return Begin(name, messages);
    }

    public void Finished(string line, int done, int planned)
    {
        progress.Finish(done, planned);
        AnsiConsole.MarkupLineInterpolated($"{progress.LineOf(line)}");
        whole!.Value = (double)done / planned;
        whole.Description = Markup.Escape($"all rounds, {(progress.Left.Length > 0 ? progress.Left : "nearly done")}");
    }

    private Bar Begin(string what, int total)
    {
        if (current is not null)
            current.Value = current.MaxValue;

        current = context.AddTask(Markup.Escape(what), autoStart: true, Math.Max(1, total));
        return new Bar(current);
    }

    private sealed class Bar(ProgressTask task) : IProgress<int>
    {
        public void Report(int value) => task.Value = value;
    }
}
