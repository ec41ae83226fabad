namespace Kit.Runner.Results.Faults;

/// <summary>
/// The folder of a run of experiments: <c>faults.json</c>, a line for each result in <c>faults.jsonl</c>, and the reports written from them. It
/// can also be the folder of a run.
/// </summary>
public sealed class FaultFolder(string path) : Folder<FaultDocument>(path, FaultFolder.DocumentFile, FaultFolder.TablesFile)
{
    /// <summary>A folder with this file contains experiments.</summary>
    public const string DocumentFile = "faults.json";

    internal const string LinesFile = "faults.jsonl";
    internal const string TablesFile = "guarantees.md";
    private const string CsvFile = "guarantees.csv";

    private readonly JsonLines lines = new(Path.Combine(path, LinesFile));

    /// <summary>All its files.</summary>
    public static IReadOnlyList<string> Files { get; } = [DocumentFile, LinesFile, CsvFile, TablesFile];

    /// <summary>Appends a result. It replaces an earlier one of the same cell and fault, unless that is broken: see <see cref="FaultResult.After"/>.</summary>
    /// <exception cref="KitException">It cannot be appended; the results before it are untouched.</exception>
    public void Save(FaultResult result) => lines.Append(result);

    /// <summary>The result of each cell and fault, by name.</summary>
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
    public void WriteReports(GuaranteeReport report) => ReportFile.WriteAll(ReportsOf(report), Location);

    /// <summary>The reports of experiments.</summary>
    public static IReadOnlyList<ReportFile> ReportsOf(GuaranteeReport report) => [new(TablesFile, report.WriteMarkdown), new(CsvFile, report.WriteCsv)];

    private (IReadOnlyList<FaultResult> Results, bool IsLastCut) Read()
    {
        var (whole, isLastCut) = lines.Read();
        return (
            [
                .. whole.Select((line, index) => StoredJson.Read<FaultResult>(line.Text, line.Place) with { Line = index + 1 })
                    .GroupBy(result => (result.Cell, result.Fault))
                    .Select(made => made.Aggregate((earlier, later) => later.After(earlier)))
                    .OrderBy(result => result.Name, StringComparer.Ordinal),
            ],
            isLastCut);
    }
}
