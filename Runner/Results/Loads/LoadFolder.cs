using System.Text.Json;

namespace Kit.Runner.Results.Loads;

/// <summary>The folder of a live load: <c>load.json</c>, and the reports written from it.</summary>
public sealed class LoadFolder(string path)
{
    /// <summary>A folder with this file contains a load.</summary>
    public const string DocumentFile = "load.json";

    /// <summary>The looks at processes and servers, a line each, if there are any.</summary>
    public const string SamplesFile = "load.samples.jsonl";

    /// <summary>The tables.</summary>
    internal const string TablesFile = "load.md";


    private const string CsvFile = "load.csv";

    /// <summary>The files that <c>load</c> writes.</summary>
    internal static IReadOnlyList<string> Files { get; } = [DocumentFile, SamplesFile, TablesFile, CsvFile];

    public string Location => path;

    public bool Exists => File.Exists(DocumentPath);

    public string TablesPath => Path.Combine(path, TablesFile);

    private string DocumentPath => Path.Combine(path, DocumentFile);

    /// <summary>Writes the document and its reports.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public void Save(LoadDocument document)
    {
        WholeFile.Write(DocumentPath, writer => writer.WriteLine(JsonSerializer.Serialize(document, ResultJson.Options)));
        foreach (var report in ReportsOf(document))
            report.WriteTo(path);
    }

    /// <summary>Appends a look at the processes and servers.</summary>
    /// <exception cref="KitException">It cannot be written.</exception>
    public void Append(LoadSample sample) => new JsonLines(Path.Combine(path, SamplesFile)).Append(sample);

    /// <exception cref="KitException">The file is missing, damaged or of another schema; the message names it.</exception>
    public LoadDocument Load() => StoredJson.ReadFile<LoadDocument>(DocumentPath);

    public static IReadOnlyList<ReportFile> ReportsOf(LoadDocument document) =>
    [
        new(TablesFile, output => LoadReport.WriteMarkdown(document, output)),
        new(CsvFile, output => LoadReport.WriteCsv(document, output)),
    ];
}
