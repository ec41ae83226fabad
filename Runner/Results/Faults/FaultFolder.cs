using System.Text.Json;

namespace Kit.Runner.Results.Faults;

/// <summary>The folder of a run of experiments: <c>faults.json</c>, a file for each result under <c>faults/</c>, and the reports written from them.</summary>
public sealed class FaultFolder
{
    private const string DocumentFile = "faults.json";
    private const string ResultsFolder = "faults";
    private const string TablesFile = "guarantees.md";
    private const string CsvFile = "guarantees.csv";

    public FaultFolder(string path) => Location = path;

    public string Location { get; }

    public string TablesPath => Path.Combine(Location, TablesFile);

    public string CsvPath => Path.Combine(Location, CsvFile);

    public bool Exists => File.Exists(Path.Combine(Location, DocumentFile));

    /// <exception cref="KitException">The file cannot be written.</exception>
    public void Save(FaultDocument document) => Write(DocumentFile, document);

    /// <exception cref="KitException">The file cannot be written.</exception>
    public void Save(FaultResult result) => Write(Path.Combine(ResultsFolder, result.Name + ".json"), result);

    /// <exception cref="KitException">A file is missing, damaged or of another schema; the message names it.</exception>
    public FaultDocument LoadDocument() => Read<FaultDocument>(Path.Combine(Location, DocumentFile), document => document.Schema);

    /// <inheritdoc cref="LoadDocument"/>
    public IReadOnlyList<FaultResult> LoadResults()
    {
        var folder = Path.Combine(Location, ResultsFolder);
        return Directory.Exists(folder)
            ? [.. Directory.GetFiles(folder, "*.json").Order(StringComparer.Ordinal).Select(ReadResult)]
            : [];
    }

    /// <summary>Writes <c>guarantees.md</c> and <c>guarantees.csv</c>.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public void WriteReports(GuaranteeReport report)
    {
        WholeFile.Write(TablesPath, report.WriteMarkdown);
        WholeFile.Write(CsvPath, report.WriteCsv);
    }

    private void Write<T>(string file, T content) =>
        WholeFile.Write(Path.Combine(Location, file), writer => writer.WriteLine(JsonSerializer.Serialize(content, ResultJson.Options)));

    // A file under another name would be a result of another cell or fault to whoever compares folders.
    private static FaultResult ReadResult(string path)
    {
        var result = Read<FaultResult>(path, result => result.Schema);
        return string.Equals(Path.GetFileNameWithoutExtension(path), result.Name, StringComparison.Ordinal)
            ? result
            : throw Damaged(path, $"it holds the result that belongs in {result.Name}.json");
    }

    private static T Read<T>(string path, Func<T, int> schemaOf)
    {
        try
        {
            var read = JsonSerializer.Deserialize<T>(File.ReadAllText(path), ResultJson.Options) ?? throw new JsonException("it is empty");
            return schemaOf(read) == ResultJson.Schema
                ? read
                : throw new KitException(
                    $"Cannot read {path}: it is of schema {schemaOf(read)}, and this kit reads schema {ResultJson.Schema}.",
                    "Resume it with the kit that began it.");
        }
        catch (Exception failure) when (failure is JsonException or IOException or UnauthorizedAccessException)
        {
            throw Damaged(path, failure.Message, failure);
        }
    }

    private static KitException Damaged(string path, string because, Exception? inner = null) =>
        new($"Cannot read {path}: {because}", "Restore it from a copy, or remove it: its experiment is then made again.", inner);
}
