using System.Text.Json;
using System.Text.Json.Nodes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results;

/// <summary>
/// A folder of schema 1: a document for each round with its commits, a picture for each graph, a document for each experiment. It is
/// converted once; no other code reads it.
/// </summary>
public sealed class OldFolder
{
    internal const int Schema = 1;

    private const string Rounds = "rounds";
    private const string Graphs = "graphs";
    private const string Faults = "faults";

    private readonly string path;

    /// <param name="path">The folder.</param>
    public OldFolder(string path) => this.path = path;

    /// <summary>The subfolders of a run of schema 1.</summary>
    internal static IReadOnlyList<string> RunFolders { get; } = [Rounds, Graphs];

    /// <summary>Whether anything in the folder is of schema 1.</summary>
    /// <exception cref="KitException">A document is damaged.</exception>
    public bool IsThere => HasOldRun || HasOldExperiments;

    private bool HasOldRun => IsOld(RunFolder.RunFile, RunFolders);

    private bool HasOldExperiments => IsOld(FaultFolder.DocumentFile, [Faults]);

    /// <summary>Writes the current files, and then removes those of schema 1.</summary>
    /// <exception cref="KitException">A document is damaged, or a file cannot be written; all old files are still there.</exception>
    public void Convert()
    {
        if (HasOldRun)
        {
            if (IsOld(RunFolder.RunFile, []))
                ConvertRun();
            // The removed files are the measurement, so the copy is read first.
            _ = RunFolder.Open(path).Load();
            Remove(RunFolders);
        }

        if (HasOldExperiments)
        {
            if (IsOld(FaultFolder.DocumentFile, []))
                ConvertExperiments();
            _ = new FaultFolder(path).LoadReport();
            Remove([Faults]);
        }
    }

    // The document is written last: while it is of schema 1, the files in the subfolders are the measurement.
    private void ConvertRun()
    {
        new RoundFiles(path).Write(
            [.. Documents(Rounds).Select(RoundOf).OrderBy(round => round.FirstHandlerEntryUtc ?? DateTimeOffset.MaxValue).ThenBy(round => round.GraphId)]);
        RunFolder.Open(path).Save(Read<RunDocument>(Path.Combine(path, RunFolder.RunFile)) with { Schema = ResultJson.Schema });
    }

    private void ConvertExperiments()
    {
        var folder = new FaultFolder(path);
        folder.Write([.. Documents(Faults).Select(document => Read<FaultResult>(document) with { Schema = ResultJson.Schema })]);
        folder.Save(Read<FaultDocument>(Path.Combine(path, FaultFolder.DocumentFile)) with { Schema = ResultJson.Schema });
    }

    private static RoundDocument RoundOf(string document) => Read<RoundDocument>(document) with
    {
        Schema = ResultJson.Schema,
        OffsetsMilliseconds = Parsed(document)["offsetsMilliseconds"].Deserialize<double[]>() ?? throw StoredJson.Damaged(document, "it has no offsets"),
    };

    private bool IsOld(string document, IReadOnlyList<string> folders)
    {
        var file = Path.Combine(path, document);
        return File.Exists(file)
            && (folders.Any(folder => Directory.Exists(Path.Combine(path, folder))) || Parsed(file)["schema"]?.ToJsonString() == Figures.Plain(Schema));
    }

    private IEnumerable<string> Documents(string folder) => Directory.Exists(Path.Combine(path, folder))
        ? Directory.GetFiles(Path.Combine(path, folder), "*.json").Order(StringComparer.Ordinal)
        : [];

    private void Remove(IReadOnlyList<string> folders)
    {
        foreach (var folder in folders.Select(name => Path.Combine(path, name)).Where(Directory.Exists))
            Directory.Delete(folder, recursive: true);
    }

    private static T Read<T>(string document)
    {
        try
        {
            return Parsed(document).Deserialize<T>(ResultJson.Options)!;
        }
        catch (JsonException failure)
        {
            throw StoredJson.Damaged(document, failure.Message, failure);
        }
    }

    private static JsonObject Parsed(string document)
    {
        try
        {
            return JsonNode.Parse(StoredFile.Text(document)) as JsonObject ?? throw StoredJson.Damaged(document, "it is not an object");
        }
        catch (JsonException failure)
        {
            throw StoredJson.Damaged(document, failure.Message, failure);
        }
    }
}
