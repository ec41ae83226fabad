using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Published;

/// <summary>An experiment that others have published: their figures, and the commands of the kit that repeat it: an entry of docs/experiments.json.</summary>
/// <param name="Name">As it is typed, and the name of its block on the pages.</param>
/// <param name="Question">What it asked.</param>
/// <param name="Source">Who measured what, on what, and when.</param>
/// <param name="Tables">The published figures.</param>
/// <param name="Commands">What repeats them.</param>
/// <param name="Differences">What is different here, a sentence each.</param>
public sealed record PublishedExperiment(
    string Name, string Question, string Source, IReadOnlyList<PublishedTable> Tables, IReadOnlyList<PublishedCommand> Commands,
    IReadOnlyList<string> Differences)
{
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
    };

    public static IReadOnlyList<PublishedExperiment> All { get; } = Read();

    /// <param name="name">As typed.</param>
    /// <returns><see langword="null"/> if there is none of that name.</returns>
    public static PublishedExperiment? Find(string name) => All.FirstOrDefault(one => string.Equals(one.Name, name, StringComparison.Ordinal));

    /// <summary>Where a command's results are: the folder of an experiment with one command is that of its run.</summary>
    /// <param name="folder">That of the experiment.</param>
    /// <param name="command">One of its commands.</param>
    public string FolderOf(string folder, PublishedCommand command)
    {
        ArgumentNullException.ThrowIfNull(command);
        return Commands.Count == 1 ? folder : Path.Combine(folder, command.Name);
    }

    /// <summary>Whether a load was that of a quick repetition.</summary>
    internal bool IsQuick(RepeatedCommand repeated) => repeated.Load is { } load
        && Commands.FirstOrDefault(command => command.Name == repeated.Name) is { } of
        && load.CommandLine.Contains(of.Quick, StringComparison.Ordinal);

    /// <summary>The command whose results a folder holds.</summary>
    /// <param name="folder">That of the command.</param>
    /// <exception cref="KitException">No command has a folder of that name.</exception>
    public PublishedCommand CommandIn(string folder) => Commands is [var only]
        ? only
        : Commands.FirstOrDefault(command => string.Equals(command.Name, Path.GetFileName(folder), StringComparison.Ordinal)) ?? throw new KitException(
            $"{folder} is not the folder of a command of {Name}.", $"Their folders are named {string.Join(", ", Commands.Select(command => command.Name))}.");

    private static List<PublishedExperiment> Read()
    {
        using var stream = typeof(PublishedExperiment).Assembly.GetManifestResourceStream("experiments.json")!;
        return JsonSerializer.Deserialize<List<PublishedExperiment>>(stream, Json)!;
    }
}

/// <summary>Published figures that are divided by one of them: absolute figures of another machine and year say nothing.</summary>
/// <param name="Rows">The figures.</param>
/// <param name="Commands">The names of the commands that repeat it: two commands can measure the same cell in different ways.</param>
/// <param name="Title">What they are about; <see langword="null"/>: the experiment's question says it.</param>
public sealed record PublishedTable(IReadOnlyList<PublishedRow> Rows, IReadOnlyList<string> Commands, string? Title = null)
{
    /// <summary>The row that the others are divided by.</summary>
    public PublishedRow Base => Rows.Single(row => row.IsBase);
}
