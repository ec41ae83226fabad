using System.Text.Json;

namespace Kit.Runner.Results;

/// <summary>
/// The folder of one run: <c>run.json</c>, one file per round under <c>rounds/</c>, and the reports that are written from them.
/// </summary>
public sealed class RunFolder
{
    /// <summary>The run's document; a folder that holds it holds a run.</summary>
    public const string RunFile = "run.json";

    private const string RoundsFolder = "rounds";
    private const string GraphsFolder = "graphs";
    private const string CsvFile = "rounds.csv";
    private const string TablesFile = "tables.md";

    private RunFolder(string path) => Location = path;

    public string Location { get; }

    public string TablesPath => Path.Combine(Location, TablesFile);

    private string RunPath => Path.Combine(Location, RunFile);

    /// <summary>Makes the folder and writes the run's document, so that a folder that cannot be written is found before any work.</summary>
    /// <exception cref="KitException">The folder already holds a run, or cannot be written.</exception>
    public static RunFolder Create(string path, RunDocument document)
    {
        var folder = new RunFolder(path);
        foreach (var name in new[] { RunFile, RoundsFolder, GraphsFolder, CsvFile, TablesFile })
        {
            if (Path.Exists(Path.Combine(path, name)))
            {
                throw new KitException(
                    $"The folder {path} already holds a run: {name} is there.",
                    "Name a new folder with --out, or remove this one; a run is never written over.");
            }
        }

        folder.Save(document);
        return folder;
    }

    /// <exception cref="KitException">There is no run in the folder.</exception>
    public static RunFolder Open(string path)
    {
        var folder = new RunFolder(path);
        if (!File.Exists(folder.RunPath))
        {
            throw new KitException(
                $"There is no run in {path}: {folder.RunPath} is missing.",
                "Name a folder that the run command made, for example one under results/.");
        }

        return folder;
    }

    /// <summary>Writes the run's document over the one before.</summary>
    /// <exception cref="KitException">The file cannot be written; the one before is untouched.</exception>
    public void Save(RunDocument document) =>
        WholeFile.Write(RunPath, writer => writer.WriteLine(JsonSerializer.Serialize(document, ResultJson.Options)));

    /// <exception cref="KitException">The file cannot be written.</exception>
    public void Save(RoundDocument round) =>
        WholeFile.Write(PathOf(round.FileName), writer => writer.WriteLine(JsonSerializer.Serialize(round, ResultJson.Options)));

    /// <summary>The run's document alone, of a run that may not have ended.</summary>
    /// <exception cref="KitException">It is damaged or of another schema.</exception>
    public RunDocument LoadRun() => Read<RunDocument>(RunPath);

    /// <summary>One round's first attempt.</summary>
    /// <exception cref="KitException">It is missing, damaged, misnamed or of another schema.</exception>
    public RoundDocument LoadRound(CellName cell, int round) =>
        ReadRound(PathOf(RoundDocument.FileNameOf(cell, round, attempt: 1)));

    /// <exception cref="KitException">A file is missing, damaged, misnamed or of another schema; the message names it.</exception>
    public RecordedRun Load()
    {
        var run = LoadRun();
        var rounds = Path.Exists(Path.Combine(Location, RoundsFolder))
            ? Directory.GetFiles(Path.Combine(Location, RoundsFolder), "*.json").Order(StringComparer.Ordinal).Select(ReadRound).ToList()
            : [];
        RequireAllRounds(run, rounds);
        return new RecordedRun(run, rounds);
    }

    /// <summary>Writes <c>rounds.csv</c>, <c>tables.md</c> and a graph for each round that committed anything.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public void WriteReports(RecordedRun run)
    {
        var scale = GraphScale.Of(run.Rounds, SvgSparkline.MostBins);
        foreach (var round in run.Rounds.Where(GraphScale.CanDraw))
            WholeFile.Write(Path.Combine(Location, SvgSparkline.PathOf(GraphsFolder, round)), writer => SvgSparkline.Write(round, scale, writer));
        WholeFile.Write(Path.Combine(Location, CsvFile), writer => RoundsCsv.Write(run, writer));
        WholeFile.Write(TablesPath, writer => MarkdownTables.Write(run, GraphsFolder, writer));
    }

    private string PathOf(string round) => Path.Combine(Location, RoundsFolder, round + ".json");

    private RoundDocument ReadRound(string path)
    {
        var round = Read<RoundDocument>(path);
        if (!string.Equals(Path.GetFileNameWithoutExtension(path), round.FileName, StringComparison.Ordinal))
            throw Damaged(path, $"it holds the round that belongs in {round.FileName}.json");
        try
        {
            _ = round.Throughput;
        }
        catch (ArgumentException failure)
        {
            throw Damaged(path, failure.Message, failure);
        }

        return round;
    }

    // A completed run has a file for every round of every cell. A stopped one has those that were finished.
    private void RequireAllRounds(RunDocument run, List<RoundDocument> rounds)
    {
        if (run.Ending.State is not RunState.Completed)
            return;

        var found = rounds.Where(round => round.Attempt == 1).Select(round => (round.Cell, round.Round)).ToHashSet();
        foreach (var cell in run.Cells)
        {
            for (var round = 1; round <= run.Settings.Rounds; round++)
            {
                if (!found.Contains((cell, round)))
                {
                    throw new KitException(
                        "The run is complete, yet a file is missing: " +
                        PathOf(RoundDocument.FileNameOf(cell, round, attempt: 1)),
                        "Restore it from a copy, or run again: a table without it would not be what was measured.");
                }
            }
        }
    }

    private static T Read<T>(string path)
    {
        try
        {
            using var document = JsonDocument.Parse(File.ReadAllText(path));
            var schema = SchemaOf(document.RootElement);
            if (!string.Equals(schema, Figures.Plain(ResultJson.Schema), StringComparison.Ordinal))
            {
                throw new KitException(
                    $"Cannot read {path}: it is of schema {schema}, and this kit reads schema {ResultJson.Schema}.",
                    "Report it with the kit of the commit that run.json names.");
            }

            return document.Deserialize<T>(ResultJson.Options) ?? throw Damaged(path, "it is empty");
        }
        catch (JsonException failure)
        {
            throw Damaged(path, failure.Message, failure);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new KitException($"Cannot read {path}: {failure.Message}", "Check that the file is there and may be read.", failure);
        }
    }

    private static string SchemaOf(JsonElement root) =>
        root.ValueKind is JsonValueKind.Object && root.TryGetProperty("schema", out var schema) ? schema.GetRawText() : "none";

    private static KitException Damaged(string path, string because, Exception? inner = null) =>
        new($"Cannot read {path}, it is damaged: {because}", "Restore it from a copy, or run again.", inner);
}
