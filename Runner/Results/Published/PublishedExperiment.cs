using System.Globalization;
using System.Text.Json;

namespace Kit.Runner.Results.Published;

/// <summary>An experiment that others have published: their figures, and the commands of the kit that repeat it: an entry of docs/experiments.json.</summary>
/// <param name="Name">As typed, and the name of its block on the pages.</param>
/// <param name="Source">The people, the subject, the machine and the date of the measurement.</param>
/// <param name="Differences">Differences here, a sentence each.</param>
public sealed record PublishedExperiment(
    string Name, string Question, string Source, IReadOnlyList<PublishedTable> Tables, IReadOnlyList<PublishedCommand> Commands,
    IReadOnlyList<string> Differences)
{
    public static IReadOnlyList<PublishedExperiment> All { get; } = Read();

    /// <returns><see langword="null"/> if there is none of that name.</returns>
    public static PublishedExperiment? Find(string name) => All.FirstOrDefault(one => string.Equals(one.Name, name, StringComparison.Ordinal));

    /// <summary>The folder of a command's results: an experiment with one command has the folder of its run.</summary>
    /// <param name="folder">Folder of the experiment.</param>
    public string FolderOf(string folder, PublishedCommand command) => Commands.Count == 1 ? folder : Path.Combine(folder, command.Name);

    /// <summary>True if a load was that of a quick repetition.</summary>
    internal bool IsQuick(RepeatedCommand repeated) => repeated.Load is { } load
        && Commands.FirstOrDefault(command => command.Name == repeated.Name) is { } of
        && load.CommandLine.Contains(of.Quick, StringComparison.Ordinal);

    /// <summary>The command whose results a folder holds.</summary>
    /// <param name="folder">Folder of the command.</param>
    /// <exception cref="KitException">No command has a folder of that name.</exception>
    public PublishedCommand CommandIn(string folder) => Commands is [var only]
        ? only
        : Commands.FirstOrDefault(command => string.Equals(command.Name, Path.GetFileName(folder), StringComparison.Ordinal)) ?? throw new KitException(
            $"{folder} is not the folder of a command of {Name}.", $"Their folders are named {string.Join(", ", Commands.Select(command => command.Name))}.");

    private static List<PublishedExperiment> Read()
    {
        using var stream = typeof(PublishedExperiment).Assembly.GetManifestResourceStream("experiments.json")!;
        return JsonSerializer.Deserialize<List<PublishedExperiment>>(stream, PlanJson.Options)!;
    }
}

/// <summary>Published figures that are divided by one of them: absolute figures of another machine and year say nothing.</summary>
/// <param name="Commands">Names of the commands that repeat it: two commands can measure the same cell in different ways.</param>
/// <param name="Title"><see langword="null"/>: the experiment's question says it.</param>
public sealed record PublishedTable(IReadOnlyList<PublishedRow> Rows, IReadOnlyList<string> Commands, string? Title = null)
{
    /// <summary>The row by which the others are divided.</summary>
    public PublishedRow Base => Rows.Single(row => row.IsBase);
}

/// <summary>A row of a published table. A figure is <see langword="null"/> if it was not published, or is not known here.</summary>
/// <param name="Title">As it was published.</param>
/// <param name="Cell">The kit's cell that repeats it.</param>
public sealed record PublishedRow(string Title, string Cell, double? PerSecond = null)
{
    /// <summary>True if the others of its table are divided by it.</summary>
    public bool IsBase { get; init; }

    /// <summary>Users in the repetition; <see langword="null"/>: it is a drain.</summary>
    public int? Users { get; init; }

    /// <summary>The published latency in ms.</summary>
    public double? Milliseconds { get; init; }

    /// <summary>The published CPU use in percent.</summary>
    public double? CpuPercent { get; init; }

    /// <summary>The published words.</summary>
    public string? Said { get; init; }

    /// <summary>The rate with the digits that were published.</summary>
    public string Figure => TextOf(PerSecond);

    /// <summary>A figure with the digits that were published.</summary>
    public static string TextOf(double? figure) => figure?.ToString(CultureInfo.InvariantCulture) ?? Figures.None;
}

/// <summary>The length of an experiment's repetition.</summary>
public enum ExperimentLength
{
    /// <summary>About a minute, to see that it works.</summary>
    Quick,

    /// <summary>Some minutes.</summary>
    Scaled,

    /// <summary>Minutes to hours for each command, up to what was published.</summary>
    Full,
}

/// <summary>A command of the kit that repeats some published figures.</summary>
/// <param name="Name">Folder of its results, within that of the experiment.</param>
/// <param name="Common">The arguments at every length. The first word is the command.</param>
/// <param name="Scaled">Arguments with which it takes minutes.</param>
/// <param name="Full">Arguments with which it takes up to hours.</param>
public sealed record PublishedCommand(string Name, string Common, string Quick, string Scaled, string Full)
{
    /// <summary>Its arguments.</summary>
    public IReadOnlyList<string> At(ExperimentLength length)
    {
        var own = length switch
        {
            ExperimentLength.Quick => Quick,
            ExperimentLength.Scaled => Scaled,
            ExperimentLength.Full => Full,
            _ => throw new InvalidOperationException($"No command is of length {length}."),
        };
        return $"{Common} {own}".Split(' ', StringSplitOptions.RemoveEmptyEntries);
    }
}
