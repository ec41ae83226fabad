using System.Text.Json;
using System.Text.RegularExpressions;

namespace Kit.Runner.Results.Published;

/// <summary>The plan of a publication: commands that make figures of the pages from one commit. It is docs/publication.json.</summary>
/// <param name="Folder">The folder of its results, from the root of the repository.</param>
/// <param name="Page">The part that <see cref="PageFile"/> shows.</param>
/// <param name="Parts">In the order in which they are made.</param>
public sealed partial record Publication(string Folder, string Page, IReadOnlyList<PublicationPart> Parts)
{
    /// <summary>The file of the plan, from the root.</summary>
    public const string File = "docs/publication.json";

    /// <summary>The page of the publication, from the root.</summary>
    public const string PageFile = "docs/results/index.html";

    /// <exception cref="KitException">The file is missing or damaged, or the plan contradicts itself.</exception>
    public static Publication Read(string root)
    {
        var path = Path.Combine(root, File);
        try
        {
            return JsonSerializer.Deserialize<Publication>(StoredFile.Text(path), PlanJson.Options)!.Checked();
        }
        catch (JsonException wrong)
        {
            throw new KitException($"{path}: {wrong.Message}", "Correct the plan of the publication.", wrong) { IsUsage = true };
        }
    }

    /// <summary>The folder that a page names: a path from the root with a slash, or a part of the publication.</summary>
    /// <exception cref="KitException">There is no such part.</exception>
    public static string FolderNamed(string root, string name) =>
        name.Contains('/', StringComparison.Ordinal) ? name : Read(root).FolderOf(name);

    /// <exception cref="KitException">There is no such part.</exception>
    public PublicationPart PartNamed(string name) => Parts.FirstOrDefault(part => string.Equals(part.Name, name, StringComparison.Ordinal))
        ?? throw new KitException(
            $"The publication has no part '{name}'. Parts: {string.Join(", ", Parts.Select(part => part.Name))}.", $"{File} lists them.")
        { IsUsage = true };

    /// <summary>The folder of a part, from the root, with slashes.</summary>
    /// <exception cref="KitException">There is no such part.</exception>
    public string FolderOf(string part) => $"{Folder}/{PartNamed(part).Name}";

    private Publication Checked()
    {
        _ = PartNamed(Page);
        var wrong =
            !FolderName().IsMatch(Folder) ? $"the folder '{Folder}' is not one below results"
            : Parts.FirstOrDefault(part => !PartName().IsMatch(part.Name)) is { } unnamed ? $"'{unnamed.Name}' is no name of a part"
            : Parts.CountBy(part => part.Name).FirstOrDefault(same => same.Value > 1).Key is { } twice ? $"the part '{twice}' is there twice"
            : Parts.FirstOrDefault(part => !part.IsOneFolder) is { } mixed
                ? $"part {mixed.Name}: a load and a published experiment are alone in their folder, and a folder has one run"
            : null;
        return wrong is null ? this : throw new KitException($"{File}: {wrong}.", "Correct the plan of the publication.") { IsUsage = true };
    }

    [GeneratedRegex("^results/[a-z0-9][a-z0-9-]*$", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex FolderName();

    [GeneratedRegex("^[a-z0-9][a-z0-9-]*$", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex PartName();
}

/// <summary>Commands whose results are one folder.</summary>
/// <param name="Name">The name of the folder, and of the part in the marks of the pages.</param>
/// <param name="Hours">How long it takes on two cores.</param>
/// <param name="Commands">As typed after ./run.sh, without --out.</param>
public sealed record PublicationPart(string Name, double Hours, IReadOnlyList<string> Commands)
{
    /// <summary>True if its commands can share a folder.</summary>
    internal bool IsOneFolder => Commands.All(command => VerbOf(command) is "run" or "faults")
        ? Commands.Count(command => VerbOf(command) == "run") <= 1
        : Commands is [var only] && VerbOf(only) is "load" or "experiment";

    /// <summary>Whether other programs would change its figures: experiments with faults only count.</summary>
    public static bool MeasuresSpeed(string command) => VerbOf(command) is not "faults";

    /// <summary>The first word of a command.</summary>
    public static string VerbOf(string command) => command.Split(' ')[0];
}

/// <summary>The record of what has been made of a publication. It is a file of its folder.</summary>
/// <param name="Commit">The commit of the build that makes every part.</param>
/// <param name="Fingerprint">Of that build: builds of one commit differ in their optional packages.</param>
/// <param name="Commands">The commands that have begun, in their order.</param>
public sealed record PublicationRecord(int Schema, string Commit, string Fingerprint, IReadOnlyList<BegunCommand> Commands)
{
    /// <summary>Its name in the folder of the publication.</summary>
    public const string File = "publication.json";

    /// <summary>The record of a folder. A part whose folder has been moved away has not begun.</summary>
    /// <returns><see langword="null"/> if nothing of it has been made.</returns>
    /// <exception cref="KitException">The file is damaged.</exception>
    public static PublicationRecord? In(string folder)
    {
        var path = Path.Combine(folder, File);
        if (!System.IO.File.Exists(path))
            return null;

        var record = StoredJson.ReadFile<PublicationRecord>(path);
        return record with { Commands = [.. record.Commands.Where(one => Directory.Exists(Path.Combine(folder, one.Part)))] };
    }

    /// <returns><see langword="null"/> if it has not begun.</returns>
    public BegunCommand? Find(PublicationPart part, string command) => Commands.FirstOrDefault(one => one.Part == part.Name && one.Command == command);

    /// <summary>The record with what became of a command, saved.</summary>
    /// <exception cref="KitException">It cannot be written.</exception>
    public PublicationRecord With(string folder, BegunCommand command)
    {
        var record = this with { Commands = [.. Commands.Where(one => (one.Part, one.Command) != (command.Part, command.Command)), command] };
        WholeFile.Write(Path.Combine(folder, File), writer => writer.WriteLine(JsonSerializer.Serialize(record, ResultJson.Options)));
        return record;
    }
}

/// <summary>A command that has begun.</summary>
/// <param name="StartedUtc">The last time that it was started.</param>
public sealed record BegunCommand(string Part, string Command, DateTimeOffset StartedUtc)
{
    /// <summary><see langword="null"/>: it was stopped.</summary>
    public DateTimeOffset? EndedUtc { get; init; }

    /// <summary>0, or 1 where a promise was broken for no known reason, something was void or refused, or a round was not valid.</summary>
    public int? ExitCode { get; init; }
}
