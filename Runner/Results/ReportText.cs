namespace Kit.Runner.Results;

/// <summary>The sentences that every report says alike.</summary>
internal static class ReportText
{
    public const string Brackets =
        "Figures in brackets are not in the averages: the round failed, or a quieter attempt at it counts.";

    public static string SummaryLegend { get; } =
        "Mean and interval are over the counting rounds (Student's t, on a scale of logarithms). A ratio is taken by round, over the " +
        "rounds that count in both cells, with its 95 % interval (Student's t for pairs, on logarithms). Faster and slower are said " +
        "only where that interval, adjusted for the number of ratios in the column (Holm), lies beyond " +
        $"{Figures.Share(Margin.Default.Share)}; n < {Figures.Plain(Comparison.EnoughRounds)} marks a ratio of fewer rounds. " +
        "Strictest is the mode to which a crash can do least, among the cells that differ in the mode alone; bare the driver alone, in the " +
        "same cell but for the framework. Middle half is the rate from the commit of the message at a quarter of the drain to that " +
        "at three quarters. Max is the busiest second of any counting round. Commits, flushes, WAL bytes, " +
        "buffers (accesses, hits and reads), two-phase commits and CPU are per message; the 2nd phase is the mean of the " +
        "rounds' p50 and the highest of their p99.";

    public const string ProbeLegend =
        "What each cell was seen to do with a few messages, from outside and from within the handler. " +
        "One that does not do what its label says is not measured.";

    /// <summary>What must stand next to every figure of a run; <see langword="null"/>: nothing.</summary>
    public static string? WarningOf(RunDocument document) => document.Disk switch
    {
        null => null,
        { IsInMemory: true } disk =>
            $"Not durable: the servers kept their files in memory ({disk.Folder} on {disk.FileSystem}), where a flush costs nothing. " +
            "These figures do not tell what a mode costs on a disk.",
        { IsTooFast: true } disk =>
            $"Perhaps not durable: a flush in {disk.Folder} on {disk.FileSystem} took {Figures.Measured(disk.Flush.P50Milliseconds)} ms, less than a disk " +
            "needs. Something below does not write through.",
        _ => null,
    };

    private static readonly IReadOnlyList<string> Words =
        [RoundTable.Graph, RoundTable.Run, SummaryTable.Mode, RunFacts.Facts, .. ProbeTable.Words];

    /// <summary>Whether a column holds figures, which end below each other; names and graphs begin below each other.</summary>
    public static bool IsFigure(string header) => !Words.Contains(header, StringComparer.Ordinal);

    public static string ScaleOf(GraphScale scale) => scale.Seconds == 0
        ? "There is nothing to draw."
        : $"All graphs have one scale: {Figures.Measured(scale.Seconds)} s wide, 0 to {Figures.Measured(scale.PerSecond)} msg/s high, " +
          $"bins of {Figures.Measured(scale.Bin.TotalSeconds)} s.";
}
