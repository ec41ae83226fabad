using System.Globalization;
using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Pages;

/// <summary>A line for each published folder.</summary>
internal static class PublishedRuns
{
    private const double Kilobyte = 1000;

    public static BlockText Write(BlockSources sources) => new([.. Table.Of<SourceFolder>(
        [
            new("Folder", sources.LinkToTables, IsFigure: false) { IsMarkdown = true },
            new("Made", folder => Figures.Day(
                folder.Run?.Run.Document.StartedUtc ?? folder.Faults?.Document.StartedUtc ?? folder.Load!.StartedUtc), IsFigure: false),
            new("Commit", folder => CommitsOf(folder.Run?.Run.Document.Commit ?? folder.Load?.Commit, folder.Faults?.Document.Commit), IsFigure: false),
            new("Holds", folder => Joined(HeldBy(folder.Run), HeldBy(folder.Faults), HeldBy(folder.Load)) ?? Figures.None, IsFigure: false),
            new("With", folder => Joined(
                Code(folder.Run?.Run.Document.CommandLine), Code(folder.Faults?.Document.CommandLine), Code(folder.Load?.CommandLine)) ?? Figures.None,
                IsFigure: false) { IsMarkdown = true },
            new("Size", folder => SizeOf(folder.Bytes)),
        ],
        sources.Folders).Lines]);

    private static string? HeldBy(RunSource? source) => source?.Run is not { } run ? null
        : $"{Figures.Count(run.Cells.Count)} cells × {Figures.Count(run.Document.Settings.Rounds)} rounds × " +
          $"{Figures.Count(run.Document.Settings.Messages)} messages" +
          (run.Document.AtLeast is { } length ? $" or more, at least {Figures.Measured(length.Seconds)} s" : "") +
          (run.Document.Settings.Quick ? ", quick" : "");

    private static string? HeldBy(LoadDocument? load) => load is null ? null
        : $"{Figures.Count(load.Results.Count, "load")} of {Figures.Measured(load.Settings.Seconds)} s";

    private static string? HeldBy(FaultSource? source) => source is null ? null : Joined(
        source.Results.Count(result => result.IsSingleFault) is > 0 and var singles ? $"{Figures.Count(singles)} single faults" : null,
        source.Results.Count(result => result.Point is not null) is > 0 and var points ? $"{Figures.Count(points)} experiments at every point" : null,
        source.Storms.Count switch
        {
            0 => null,
            1 => $"a storm of {Figures.Count(source.Storms[0].Storm!.Kills)} kills",
            var storms => $"{Figures.Count(storms)} storms",
        });

    private static string CommitsOf(GitCommit? first, GitCommit? second) =>
        Joined(first?.Name, first?.Id == second?.Id ? null : second?.Name) ?? "not known";

    private static string? Joined(params IEnumerable<string?> facts) =>
        facts.OfType<string>().ToList() is { Count: > 0 } known ? string.Join("; ", known) : null;

    private static string? Code(string? command) => command is null ? null : $"`{command.Replace("|", @"\|", StringComparison.Ordinal)}`";

    private static string SizeOf(long bytes) => bytes < Kilobyte * Kilobyte
        ? $"{(bytes / Kilobyte).ToString("0", CultureInfo.InvariantCulture)} kB"
        : $"{(bytes / Kilobyte / Kilobyte).ToString("0.0", CultureInfo.InvariantCulture)} MB";
}
