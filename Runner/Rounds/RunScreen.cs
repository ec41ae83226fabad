using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>
/// The screen of a terminal below the finished rounds while a run goes on: its progress, the current round with its rate, and the cells with their
/// rounds. It fits any width and height, and leaves out the least important first.
/// </summary>
/// <param name="clock">Time since some moment.</param>
internal sealed class RunScreen(Func<TimeSpan> clock)
{
    private const char ToDo = '·';
    private const char Running = '>';

    private readonly Lock changing = new();
    private readonly RunProgress progress = new();
    private readonly Dictionary<(string Cell, int Number), FinishedRound> finished = [];
    private IReadOnlyList<string> cells = [];
    private int rounds;
    private string what = "starting";
    private (string Cell, int Number) current;
    private int total;
    private RateGraph? graph;
    private bool isRound;

    private TimeSpan Now => clock();

    public void Plan(IReadOnlyList<string> planned, int roundsOfEach, bool isAtMost, IReadOnlyList<FinishedRound> before)
    {
        lock (changing)
        {
            (cells, rounds) = (planned, roundsOfEach);
            foreach (var round in before)
                finished[(round.Cell, round.Number)] = round;
            progress.Plan(before.Count, planned.Count * roundsOfEach, isAtMost);
        }
    }

    /// <summary>Shows a count.</summary>
    public IProgress<int> Count(string name, int count) => Show(name, count, ("", 0), isMeasured: false);

    public IProgress<int> Round(string cell, int number, string name, int messages)
    {
        progress.Begin(number);
        return Show(name, messages, (cell, number), isMeasured: true);
    }

    /// <returns>The round's line, with the progress.</returns>
    public string Finished(string line, FinishedRound round, int nowDone, int nowPlanned)
    {
        lock (changing)
        {
            finished[(round.Cell, round.Number)] = round;
            current = ("", 0);
            progress.Finish(nowDone, nowPlanned);
            return $"{nowDone} of {nowPlanned}: {line}";
        }
    }

    /// <summary>
    /// A text for the lines above the screen: broken between words, and padded, because a line is written over one of the screen and does not clear it.
    /// </summary>
    public static IReadOnlyList<string> Above(string text, int width)
    {
        var columns = Math.Max(1, width - 1);
        var lines = new List<string>();
        foreach (var paragraph in text.ReplaceLineEndings("\n").Split('\n'))
        {
            var rest = paragraph;
            while (rest.Length > columns)
            {
                var space = rest.LastIndexOf(' ', columns);
                var end = space > 0 ? space : columns;
                lines.Add(rest[..end]);
                rest = rest[end..].TrimStart(' ');
            }

            lines.Add(rest);
        }

        return [.. lines.Select(line => line.PadRight(columns))];
    }

    /// <summary>The lines to show.</summary>
    /// <param name="width">Columns that no line exceeds.</param>
    /// <param name="height">Lines of the terminal. A few of them are left to the texts above.</param>
    public IReadOnlyList<string> Lines(int width, int height)
    {
        lock (changing)
        {
            // Some terminals wrap a line that reaches their last column.
            var columns = Math.Max(1, width - 1);
            var room = Math.Max(1, height - Math.Clamp(height / 4, 1, 6));
            List<string> lines = [.. cells.Count == 0 ? Array.Empty<string>() : [Whole(columns)], .. Current(columns)];
            var matrix = cells.Count == 0 ? [] : Matrix(columns, room - lines.Count - 1);
            if (matrix.Count > 0)
                lines.AddRange([.. matrix, "■ done  ~ noisy  x failed  > running  · to do"]);
            return [.. lines.Take(room).Select(line => Cut(line, columns))];
        }
    }

    private Counted Show(string name, int count, (string Cell, int Number) round, bool isMeasured)
    {
        lock (changing)
        {
            (what, total, current, graph, isRound) = (name, Math.Max(1, count), round, new RateGraph(), isMeasured);
            return new Counted(this, graph);
        }
    }

    private string Whole(int width)
    {
        var (done, planned) = (progress.Done, progress.Planned);
        var before = $"{Figures.Count(done)} of {(progress.IsAtMost ? "at most " : "")}{Figures.Count(planned)} rounds ";
        var after = $" {Figures.Share(Math.Floor(100d * done / Math.Max(1, planned)) / 100)}{(progress.Left.Length > 0 ? $", {progress.Left}" : "")}";
        return before + Bar((double)done / Math.Max(1, planned), Math.Min(60, width - before.Length - after.Length)) + after;
    }

    private IEnumerable<string> Current(int width)
    {
        yield return what;
        if (graph is null)
            yield break;

        var now = Now;
        var count = $"  {Figures.Count(graph.Handled)} of {Figures.Count(total)}";
        if (!isRound)
        {
            yield return $"{count} {Bar((double)graph.Handled / total, Math.Min(60, width - count.Length - 1))}";
        }
        else if (graph.PerSecond(now) is not { } rate)
        {
            yield return graph.Handled == 0 ? "  restoring, preloading, warming up" : $"{count} messages";
        }
        else
        {
            var before = $"{count} messages, {(graph.Handled < total ? $"{Figures.Measured(rate)} msg/s" : "checking each")} ";
            const int ScaleWidth = 20;
            var (drawn, highest) = graph.Draw(now, Math.Min(60, width - before.Length - ScaleWidth));
            yield return before + drawn + (drawn.Length == 0 ? "" : $" of {Figures.Measured(highest)}");
        }
    }

    /// <summary>A line for each cell with its rounds, or, if these are too many lines, a line for each round with its cells.</summary>
    private List<string> Matrix(int width, int room)
    {
        var byCell = ByCell(width);
        if (byCell.Count <= room)
            return byCell;

        return rounds <= room ? [.. Enumerable.Range(1, rounds).Select(LineOfRound)]
            : room > 0 ? [LineOfRound(Math.Clamp(current.Number, 1, rounds))]
            : [];

        string LineOfRound(int number)
        {
            var label = $"round {Figures.Plain(number)} ".PadRight($"round {Figures.Plain(rounds)} ".Length);
            return label.Length + cells.Count <= width
                ? label + string.Concat(cells.Select(cell => MarkOf(cell, number)))
                : $"{label}{Figures.Count(cells.Count(cell => finished.ContainsKey((cell, number))))} of {Figures.Count(cells.Count)} cells";
        }
    }

    private List<string> ByCell(int width)
    {
        const int LeastOfTwo = 75;
        const int Gap = 3;
        var perLine = cells.Count > 1 && width >= (2 * LeastOfTwo) + Gap ? 2 : 1;
        var room = (width - ((perLine - 1) * Gap)) / perLine;
        var longest = cells.Max(cell => cell.Length);
        var all = cells.Select(cell => LineOfCell(cell, longest, room)).ToList();
        var height = (all.Count + perLine - 1) / perLine;
        return
        [
            .. Enumerable.Range(0, height).Select(line => string.Join(
                new string(' ', Gap),
                Enumerable.Range(0, perLine).Select(column => (column * height) + line).Where(index => index < all.Count)
                    .Select(index => all[index].PadRight(room)))
                .TrimEnd()),
        ];
    }

    private string LineOfCell(string cell, int longest, int width)
    {
        const int RateWidth = 8;
        var marks = string.Concat(Enumerable.Range(1, rounds).Select(number => MarkOf(cell, number)));
        const int LeastName = 20;
        if (marks.Length > width - LeastName - RateWidth - 1)
        {
            var all = Figures.Plain(rounds);
            marks = $"{Figures.Plain(finished.Keys.Count(round => round.Cell == cell)).PadLeft(all.Length)}/{all}";
        }

        var latest = finished.Values.Where(round => round.Cell == cell && round.PerSecond is not null).MaxBy(round => round.Number)?.PerSecond;
        var name = Math.Max(1, Math.Min(longest, width - marks.Length - RateWidth - 1));
        return $"{Cut(cell, name).PadRight(name)} {marks}{(latest is null ? "" : Figures.Measured(latest)).PadLeft(RateWidth)}";
    }

    private char MarkOf(string cell, int number) =>
        current == (cell, number) ? Running
        : !finished.TryGetValue((cell, number), out var round) ? ToDo
        : round.Mark switch
        {
            RoundMark.Valid => '■',
            RoundMark.Noisy => '~',
            RoundMark.Failed => 'x',
            _ => throw new InvalidOperationException($"{round.Mark} has no mark."),
        };

    private static string Bar(double share, int width)
    {
        var room = Math.Max(0, width);
        var full = (int)Math.Floor(Math.Clamp(share, 0, 1) * room);
        return new string('━', full) + new string('─', room - full);
    }

    private static string Cut(string line, int width) => line.Length <= width ? line : string.Concat(line.AsSpan(0, Math.Max(0, width - 1)), "…");

    private sealed class Counted(RunScreen screen, RateGraph counted) : IProgress<int>
    {
        public void Report(int value)
        {
            lock (screen.changing)
                counted.Add(screen.Now, value);
        }
    }
}
