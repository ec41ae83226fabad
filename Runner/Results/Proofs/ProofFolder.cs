namespace Kit.Runner.Results.Proofs;

/// <summary>The folder of a proof: <c>proof.json</c>, the report <c>proof.md</c>, and its pictures.</summary>
public sealed class ProofFolder(string location) : Folder<ProofDocument>(location, ProofFolder.DocumentFile, ProofFolder.ReportFile)
{
    public const string DocumentFile = "proof.json";
    public const string ReportFile = "proof.md";

    /// <summary>That it can be created, is empty, or has a proof.</summary>
    /// <exception cref="KitException">It is a file, or has something else.</exception>
    public void Check()
    {
        if (File.Exists(Location))
            throw new KitException($"{Location} is a file.", "Name a folder with --out.") { IsUsage = true };
        if (!Exists && Directory.Exists(Location) && Directory.EnumerateFileSystemEntries(Location).Any())
            throw new KitException($"{Location} has other files, and no proof.", "Name a new folder with --out, or that of a proof.") { IsUsage = true };
    }

    /// <summary>Writes the document, its pictures and its report.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public override void Save(ProofDocument document)
    {
        base.Save(document);
        var told = ToldViolation.Of(document);
        foreach (var violation in told)
            WholeFile.Write(Path.Combine(Location, violation.Picture), writer => new TimelinePicture(violation.Result, document.Points).Write(writer));
        WholeFile.Write(ReportPath, writer => new ProofReport(document).WriteMarkdown(writer));
        // An experiment that was repeated can have ended otherwise.
        foreach (var picture in Directory.GetFiles(Location, ToldViolation.Pictures))
        {
            if (!told.Any(violation => violation.Picture == Path.GetFileName(picture)))
                File.Delete(picture);
        }
    }
}
