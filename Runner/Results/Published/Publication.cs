using System.Text.Json;

namespace Kit.Runner.Results.Published;

/// <summary>The plan of a publication: the commands that make every figure of the pages from one commit. It is docs/publication.json.</summary>
/// <param name="Folder">The folder of its results, from the root of the repository.</param>
/// <param name="Page">The part that <see cref="PageFile"/> shows.</param>
/// <param name="Parts">In the order in which they are made.</param>
public sealed record Publication(string Folder, string Page, IReadOnlyList<PublicationPart> Parts)
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
        return Parts.GroupBy(part => part.Name, StringComparer.Ordinal).FirstOrDefault(same => same.Skip(1).Any()) is { } twice
            ? throw new KitException($"{File} has the part '{twice.Key}' twice.", "Give each part a name of its own.") { IsUsage = true }
            : this;
    }
}

/// <summary>Commands whose results are one folder.</summary>
/// <param name="Name">The name of the folder, and of the part in the marks of the pages.</param>
/// <param name="Hours">How long it takes on two cores.</param>
/// <param name="Commands">As typed after ./run.sh, without --out.</param>
public sealed record PublicationPart(string Name, double Hours, IReadOnlyList<string> Commands);

/// <summary>The record of what has been made of a publication. It is a file of its folder.</summary>
/// <param name="Commit">The commit of the build that makes every part.</param>
/// <param name="Made">The commands that have ended, in their order.</param>
public sealed record PublicationRecord(int Schema, string Commit, IReadOnlyList<MadeCommand> Made)
{
    private const string File = "publication.json";

    /// <returns><see langword="null"/> if nothing of it has been made.</returns>
    /// <exception cref="KitException">The file is damaged.</exception>
    public static PublicationRecord? In(string folder) =>
        Path.Combine(folder, File) is var path && System.IO.File.Exists(path) ? StoredJson.ReadFile<PublicationRecord>(path) : null;

    public bool Has(PublicationPart part, string command) => Made.Any(made => made.Part == part.Name && made.Command == command);

    /// <summary>The record with one more command, saved.</summary>
    /// <exception cref="KitException">It cannot be written.</exception>
    public PublicationRecord With(string folder, MadeCommand made)
    {
        var record = this with { Made = [.. Made, made] };
        WholeFile.Write(Path.Combine(folder, File), writer => writer.WriteLine(JsonSerializer.Serialize(record, ResultJson.Options)));
        return record;
    }
}

/// <summary>A command that has ended.</summary>
/// <param name="ExitCode">0, or 1 where a promise was broken for no known reason or a round was not valid.</param>
public sealed record MadeCommand(string Part, string Command, DateTimeOffset StartedUtc, DateTimeOffset EndedUtc, int ExitCode);
