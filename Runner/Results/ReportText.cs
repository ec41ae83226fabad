using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>The sentences that all reports share.</summary>
internal static class ReportText
{
    public const string Brackets =
        "Figures in brackets are not in the averages: the round failed, or a quieter attempt at it counts.";

    private static string SummaryLegend { get; } =
        "Mean and interval are over the counting rounds (Student's t, on logarithms); CV, the coefficient of variation, is their " +
        "standard deviation divided by their mean. A ratio is taken round by round, over the " +
        "rounds that count in both cells, with its 95 % interval (Student's t for pairs, on logarithms). A cell is called faster or slower " +
        "only if that interval, adjusted for the number of ratios in the column (Holm), lies beyond " +
        $"{Figures.Share(Margin.Default.Share)}; n < {Figures.Plain(Comparison.EnoughRounds)} marks a ratio of fewer rounds. " +
        "Strictest is the mode in which a crash can do the least damage, among the cells that differ only in the mode; bare is the driver alone, " +
        "in a cell that differs only in the framework. Middle half is the rate from the commit at a quarter of the messages to that " +
        "at three quarters. Max is the busiest second of any counting round. Commits, flushes, WAL bytes, " +
        "buffers (accesses: hits and reads), two-phase commits and CPU are per message; the 2nd phase is the mean of the " +
        "rounds' p50 and the highest of their p99.";

    /// <summary>The legend of the columns that a run's summary has.</summary>
    public static string SummaryLegendOf(RecordedRun run) => string.Concat(
        SummaryLegend,
        run.HasCellsNextToTheirDefault ? $" Default is the cell with the default {string.Join(", ", run.Document.Implied!.Keys)}." : "",
        run.HasBatches
            ? " The redo bound is concurrency × batch: the most messages that can be received and not settled when the process dies. They are handled " +
              "again; in transactions-off they are lost."
            : "",
        run.HasCellsWithoutFlush
            ? $" With flush '{LogFlush.None.Name}', a crash of the database server also takes back the messages of the last 3 × wal_writer_delay " +
              "(600 ms by default). They are handled again."
            : "",
        run.HasDurationsOfBatches
            ? " Batch is the time from the receive of a batch to its commit, which each of its messages waits for: the mean of the rounds' p50 and the " +
              "highest of their p99."
            : "");

    /// <summary>The settings of PostgreSQL without which a commit, or its data, does not survive a crash of the machine.</summary>
    private static readonly string[] WaitForTheDisk = ["fsync", "synchronous_commit", "full_page_writes"];

    /// <summary>A warning that belongs next to every figure of a run; <see langword="null"/>: none.</summary>
    public static string? WarningOf(RunDocument document) =>
        new[] { LaxnessOf(document), WarningOf(document.Disk) }.OfType<string>().ToList() is { Count: > 0 } warnings ? string.Join(" ", warnings) : null;

    /// <summary>A warning of a disk that makes nothing durable; <see langword="null"/>: none.</summary>
    public static string? WarningOf(DiskFacts? disk) => disk switch
    {
        null => null,
        { IsInMemory: true } =>
            $"Not durable: the servers kept their files in memory ({disk.Folder} on {disk.FileSystem}), where a flush costs nothing. " +
            "These figures do not show what a mode costs on a disk.",
        { IsTooFast: true } =>
            $"Perhaps not durable: a flush in {disk.Folder} on {disk.FileSystem} took {Figures.Measured(disk.Flush.P50Milliseconds)} ms, less than a disk " +
            "needs. Some layer below does not write through.",
        _ => null,
    };

    /// <summary>What the kit's proxy added to each round trip, to follow a title or a rate.</summary>
    /// <param name="roundTrip">Such as <c>2ms</c>; <see langword="null"/>: no proxy was in between.</param>
    public static string DistanceOf(string? roundTrip) => roundTrip is null ? "" : $" with {roundTrip} added to each round trip";

    private static string? LaxnessOf(RunDocument document) => document.Server is { } server
        && WaitForTheDisk.Where(setting => server.GetValueOrDefault(setting) is "off").ToList() is { Count: > 0 } off
        ? $"Not durable: the server's sessions had {string.Join(" and ", off.Select(setting => $"{setting} off"))}, " +
          "so a crash can take back what was reported as committed. These figures do not show what a mode costs."
        : null;

    public static string ScaleOf(GraphScale scale) => scale.Seconds == 0
        ? "There is nothing to draw."
        : $"All graphs have one scale: {Figures.Measured(scale.Seconds)} s wide, 0 to {Figures.Measured(scale.PerSecond)} msg/s high, " +
          $"bins of {Figures.Measured(scale.Bin.TotalSeconds)} s.";
}
