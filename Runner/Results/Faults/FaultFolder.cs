using System.Text.Json;

namespace Kit.Runner.Results.Faults;

/// <summary>
/// The folder of a run of experiments: <c>faults.json</c>, a line for each result in <c>faults.jsonl</c>, and the reports written from them. It
/// can also be the folder of a run.
/// </summary>
public sealed class FaultFolder
{
    /// <summary>A folder with this file contains experiments.</summary>
    public const string DocumentFile = "faults.json";

    internal const string LinesFile = "faults.jsonl";
    internal const string TablesFile = "guarantees.md";
    private const string CsvFile = "guarantees.csv";

    private readonly JsonLines lines;

    public FaultFolder(string path) => (Location, lines) = (path, new JsonLines(Path.Combine(path, LinesFile)));

    /// <summary>All its files.</summary>
    public static IReadOnlyList<string> Files { get; } = [DocumentFile, LinesFile, CsvFile, TablesFile];

    public string Location { get; }

    public string TablesPath => Path.Combine(Location, TablesFile);

    public string CsvPath => Path.Combine(Location, CsvFile);

    public bool Exists => File.Exists(DocumentPath);

    private string DocumentPath => Path.Combine(Location, DocumentFile);

    /// <exception cref="KitException">The file cannot be written.</exception>
    public void Save(FaultDocument document) =>
        WholeFile.Write(DocumentPath, writer => writer.WriteLine(JsonSerializer.Serialize(document, ResultJson.Options)));

    /// <summary>Appends a result. It replaces an earlier one of the same cell and fault.</summary>
    /// <exception cref="KitException">It cannot be appended; the results before it are untouched.</exception>
    public void Save(FaultResult result) => lines.Append(result);

    /// <exception cref="KitException">The file is missing, damaged or of another schema; the message names it.</exception>
    public FaultDocument LoadDocument() => StoredJson.ReadFile<FaultDocument>(DocumentPath);

    /// <summary>The last result of each cell and fault, by name.</summary>
    /// <exception cref="KitException">A line is damaged or of another schema; the message names it.</exception>
    public IReadOnlyList<FaultResult> LoadResults() => Read().Results;

    /// <summary>The report on the experiments.</summary>
    /// <exception cref="KitException">A file is missing, damaged or of another schema; the message names it.</exception>
    public GuaranteeReport LoadReport()
    {
        var (results, isLastCut) = Read();
        return new GuaranteeReport(LoadDocument(), results) { IsOneCut = isLastCut };
    }

    /// <summary>Writes <c>guarantees.md</c> and <c>guarantees.csv</c>.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public void WriteReports(GuaranteeReport report)
    {
        foreach (var file in ReportsOf(report))
            file.WriteTo(Location);
    }

    /// <summary>The reports of experiments.</summary>
    public static IReadOnlyList<ReportFile> ReportsOf(GuaranteeReport report) => [new(TablesFile, report.WriteMarkdown), new(CsvFile, report.WriteCsv)];

    private (IReadOnlyList<FaultResult> Results, bool IsLastCut) Read()
    {
        var (whole, isLastCut) = lines.Read();
        return (
            [
                .. whole.Select((line, index) => StoredJson.Read<FaultResult>(line.Text, line.Place) with { Line = index + 1 })
                    .GroupBy(result => (result.Cell, result.Fault))
                    .Select(made => made.Last())
                    .OrderBy(result => result.Name, StringComparer.Ordinal),
            ],
            isLastCut);
    }
}
