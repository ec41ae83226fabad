namespace Kit.Runner.Results.Drains;

/// <summary>The folder of a drained service: <c>drain.json</c> and the report <c>drain.md</c>.</summary>
public sealed class DrainFolder(string location) : Folder<DrainDocument>(location, DrainFolder.DocumentFile, DrainFolder.ReportFile)
{
    public const string DocumentFile = "drain.json";
    public const string ReportFile = "drain.md";

    /// <summary>Writes the document and its report.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public override void Save(DrainDocument document)
    {
        base.Save(document);
        WholeFile.Write(ReportPath, new DrainTables(document).WriteMarkdown);
    }
}
