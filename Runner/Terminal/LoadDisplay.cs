using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Runner.Terminal;

/// <summary>A load while it runs: on a terminal one line that changes every second, in a file or pipe a line every ten seconds.</summary>
/// <param name="width">The terminal's columns; <see langword="null"/>: no terminal.</param>
internal sealed class LoadDisplay(TextWriter output, Func<int>? width)
{
    private int before;

    /// <summary>Time between two lines: their figures cost the servers a question.</summary>
    public TimeSpan Between { get; } = TimeSpan.FromSeconds(width is null ? 10 : 1);

    public void Show(CellName cell, LoadProgress progress)
    {
        var line =
            $"{cell}: {Figures.Count((int)progress.Elapsed.TotalSeconds)} s, {Figures.Count(progress.Sent)} sent, " +
            $"{Figures.Count(progress.Handled)} handled, " +
            $"backlog {Figures.Count(Math.Max(0, progress.Sent - progress.Handled))}, p50 {Figures.Measured(progress.Latency)} ms" +
            // A user's service does not tell.
            (cell.IsService ? "" : $", {Figures.Count(progress.Failed)} threw");
        if (width is not null)
        {
            // The rest of a longer line before it is overwritten.
            var shown = line.Length < width() ? line : line[..Math.Max(0, width() - 1)];
            output.Write($"\r{shown.PadRight(before)}");
            before = shown.Length;
        }
        else
        {
            output.WriteLine(line);
        }
    }

    public void Ended(LoadResult result, LoadSettings settings)
    {
        if (width is not null)
            output.Write($"\r{new string(' ', before)}\r");
        before = 0;
        output.WriteLine(
            $"{result.Cell}: {result.Asked}: {LoadReport.VerdictOf(result, settings.LimitMilliseconds)}; " +
            $"{Figures.Count(result.Sent)} sent, {LoadReport.FailedIn(result)}, {Figures.Measured(result.Reached)} msg/s reached, " +
            $"p50 {Figures.Measured(result.Latency?.P50)} ms, p99 {Figures.Measured(result.Latency?.P99)} ms, " +
            $"backlog in the last quarter {Figures.Measured(result.Backlog?.LastQuarter)}");
    }
}
