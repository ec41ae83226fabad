using System.Text.Json;

namespace Kit.Runner.Results.Proofs;

/// <summary>The folder of a proof: <c>proof.json</c>, the report <c>proof.md</c>, and its pictures.</summary>
public sealed class ProofFolder(string location)
{
    public const string DocumentFile = "proof.json";
    public const string ReportFile = "proof.md";

    public string ReportPath => Path.Combine(location, ReportFile);

    public bool Exists => File.Exists(DocumentPath);

    private string DocumentPath => Path.Combine(location, DocumentFile);

    /// <summary>That it can be created, is empty, or has a proof.</summary>
    /// <exception cref="KitException">It is a file, or has something else.</exception>
    public void Check()
    {
        if (File.Exists(location))
            throw new KitException($"{location} is a file.", "Name a folder with --out.") { IsUsage = true };
        if (!Exists && Directory.Exists(location) && Directory.EnumerateFileSystemEntries(location).Any())
            throw new KitException($"{location} has other files, and no proof.", "Name a new folder with --out, or that of a proof.") { IsUsage = true };
    }

    /// <exception cref="KitException">The file cannot be read, or is of another kit.</exception>
    public ProofDocument Load() => StoredJson.ReadFile<ProofDocument>(DocumentPath);

    /// <summary>Writes the document, its pictures and its report.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public void Save(ProofDocument document)
    {
        WholeFile.Write(DocumentPath, writer => writer.WriteLine(JsonSerializer.Serialize(document, ResultJson.Options)));
        var told = ToldViolation.Of(document);
        foreach (var violation in told)
            WholeFile.Write(Path.Combine(location, violation.Picture), writer => new TimelinePicture(violation.Result, document.Points).Write(writer));
        WholeFile.Write(ReportPath, writer => new ProofReport(document).WriteMarkdown(writer));
        // An experiment that was repeated can have ended otherwise.
        foreach (var picture in Directory.GetFiles(location, ToldViolation.Pictures))
        {
            if (!told.Any(violation => violation.Picture == Path.GetFileName(picture)))
                File.Delete(picture);
        }
    }
}
