using System.Diagnostics;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace Kit.Runner.Rounds;

/// <summary>A run on a terminal: a line for each finished round, and below them a <see cref="RunScreen"/> that is drawn again four times a second.</summary>
internal sealed class TerminalDisplay(RunScreen screen, IAnsiConsole console) : IRunDisplay
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(250);

    /// <summary>Shows a run on the terminal, or as plain lines in a file, in a pipe, and on a terminal whose cursor cannot be moved.</summary>
    public static async Task<T> ShowAsync<T>(Func<IRunDisplay, Task<T>> run)
    {
        if (Console.IsOutputRedirected || !AnsiConsole.Profile.Capabilities.Ansi)
            return await run(new PlainDisplay(Console.Out));

        var watch = Stopwatch.StartNew();
        var screen = new RunScreen(() => watch.Elapsed);
        var console = AnsiConsole.Console;
        return await console.Live(new Drawn(screen)).AutoClear(true).Overflow(VerticalOverflow.Crop).StartAsync(async context =>
        {
            await using (new Timer(_ => context.Refresh(), state: null, TimeSpan.Zero, Interval))
                return await run(new TerminalDisplay(screen, console));
        });
    }

    public void Note(string what) => console.Write(new Text(string.Join('\n', [.. RunScreen.Above(what, console.Profile.Width), ""])));

    public IProgress<int> Seeding(int rows) => screen.Count("seeding rows", rows);

    public void Plan(IReadOnlyList<string> cells, int rounds, bool isAtMost, IReadOnlyList<FinishedRound> finished) =>
        screen.Plan(cells, rounds, isAtMost, finished);

    public IProgress<int> Round(string cell, int number, string name, int messages) => screen.Round(cell, number, name, messages);

    public void Finished(string line, FinishedRound round, int done, int planned) => Note(screen.Finished(line, round, done, planned));

    /// <summary>The screen at the terminal's size of the moment.</summary>
    internal sealed class Drawn(RunScreen screen) : Renderable
    {
        protected override IEnumerable<Segment> Render(RenderOptions options, int maxWidth)
        {
            foreach (var line in screen.Lines(maxWidth, options.ConsoleSize.Height))
            {
                yield return new Segment(line);
                yield return Segment.LineBreak;
            }
        }
    }
}
