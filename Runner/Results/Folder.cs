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

    /// <summary>That it can be created, is empty, or has such a document.</summary>
    /// <param name="what">The document, in words.</param>
    /// <exception cref="KitException">It is a file, or has something else.</exception>
    public void Check(string what)
    {
        if (File.Exists(Location))
            throw new KitException($"{Location} is a file.", "Name a folder with --out.") { IsUsage = true };
        if (!Exists && Directory.Exists(Location) && Directory.EnumerateFileSystemEntries(Location).Any())
            throw new KitException($"{Location} has other files, and no {what}.", $"Name a new folder with --out, or that of a {what}.") { IsUsage = true };
    }

    /// <summary>Only the document, of a command that may not have ended.</summary>
    /// <exception cref="KitException">The file is missing, damaged or of another schema; the message names it.</exception>
    public TDocument LoadDocument() => StoredJson.ReadFile<TDocument>(DocumentPath);

    /// <summary>Replaces the document.</summary>
    /// <exception cref="KitException">The file cannot be written; the existing one is untouched.</exception>
    public virtual void Save(TDocument document) =>
        WholeFile.Write(DocumentPath, writer => writer.WriteLine(JsonSerializer.Serialize(document, ResultJson.Options)));
}
