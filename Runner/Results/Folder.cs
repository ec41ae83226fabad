using System.Text.Json;

namespace Kit.Runner.Results;

/// <summary>A folder of results: a document that is replaced as a whole, and files next to it.</summary>
/// <typeparam name="TDocument">The document.</typeparam>
public abstract class Folder<TDocument>(string location, string documentFile, string reportFile)
{
    public string Location => location;

    /// <summary>The report that a reader opens first.</summary>
    public string ReportPath => Path.Combine(location, reportFile);

    public bool Exists => File.Exists(DocumentPath);

    protected string DocumentPath => Path.Combine(location, documentFile);

    /// <summary>Only the document, of a command that may not have ended.</summary>
    /// <exception cref="KitException">The file is missing, damaged or of another schema; the message names it.</exception>
    public TDocument LoadDocument() => StoredJson.ReadFile<TDocument>(DocumentPath);

    /// <summary>Replaces the document.</summary>
    /// <exception cref="KitException">The file cannot be written; the existing one is untouched.</exception>
    public virtual void Save(TDocument document) =>
        WholeFile.Write(DocumentPath, writer => writer.WriteLine(JsonSerializer.Serialize(document, ResultJson.Options)));
}
