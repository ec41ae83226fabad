namespace Kit.Runner.Results.Loads;

/// <summary>The folder of a live load: <c>load.json</c>, its samples, and the reports written from both.</summary>
public sealed class LoadFolder(string path) : Folder<LoadDocument>(path, LoadFolder.DocumentFile, LoadFolder.TablesFile)
{
    /// <summary>A folder with this file contains a load.</summary>
    public const string DocumentFile = "load.json";

    /// <summary>The looks at processes and servers, a line each, if there are any.</summary>
    public const string SamplesFile = "load.samples.jsonl";

    /// <summary>The tables.</summary>
    internal const string TablesFile = "load.md";

    /// <summary>The samples as a picture, if a load has two.</summary>
    internal const string PictureFile = "over-time.svg";

    private const string CsvFile = "load.csv";

    private readonly JsonLines samples = new(Path.Combine(path, SamplesFile));

    private MadeFolder? made;

    /// <summary>The files that <c>load</c> writes.</summary>
    internal static IReadOnlyList<string> Files { get; } = [DocumentFile, SamplesFile, TablesFile, CsvFile, PictureFile];

    /// <summary>The files that <c>report</c> writes.</summary>
    /// <exception cref="KitException">A file is missing, damaged or of another schema; the message names it.</exception>
    public IReadOnlyList<ReportFile> Reports => ReportsOf(LoadDocument());

    /// <summary>Makes the folder, so that it is known before a load that results can be saved.</summary>
    /// <exception cref="KitException">It is there, or cannot be made.</exception>
    public void Create()
    {
        RunName.RequireNew(Location);
        try
        {
            made = MadeFolder.Make(Location);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new KitException($"Cannot make the folder {Location}: {failure.Message}", RunName.NameAnother, failure) { IsUsage = true };
        }
    }

    /// <summary>Removes the folders that <see cref="Create"/> has made, as far as nothing was saved in them.</summary>
    public void RemoveIfEmpty() => made?.RemoveIfEmpty();

    /// <summary>Writes the document and its reports.</summary>
    /// <exception cref="KitException">A file cannot be written, or the samples are damaged; the message names it.</exception>
    public override void Save(LoadDocument document)
    {
        base.Save(document);
        ReportFile.WriteAll(ReportsOf(document), Location);
    }

    /// <summary>Appends a look at the processes and servers.</summary>
    /// <exception cref="KitException">It cannot be written.</exception>
    public void Append(LoadSample sample) => samples.Append(sample);

    private IReadOnlyList<ReportFile> ReportsOf(LoadDocument document)
    {
        var picture = new SvgOverTime(
            [.. samples.Read().Whole.Select(line => StoredJson.ReadLine<LoadSample>(line.Text, line.Place))], document.Settings);
        return
        [
            new(TablesFile, output => LoadReport.WriteMarkdown(document, picture.IsEmpty ? null : PictureFile, output)),
            new(CsvFile, output => LoadReport.WriteCsv(document, output)),
            .. picture.IsEmpty ? Array.Empty<ReportFile>() : [new ReportFile(PictureFile, picture.Write)],
        ];
    }
}
