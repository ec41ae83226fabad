namespace Kit.Runner.Results.Proofs;

/// <summary>The folder of a proof: <c>proof.json</c>, the report <c>proof.md</c>, and its pictures.</summary>
public sealed class ProofFolder(string location) : Folder<ProofDocument>(location, ProofFolder.DocumentFile, ProofFolder.ReportFile)
{
    public const string DocumentFile = "proof.json";
    public const string ReportFile = "proof.md";

    /// <inheritdoc cref="Folder{TDocument}.Check"/>
    public void Check() => Check("proof");

    /// <summary>Writes the document, its pictures and its report.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public override void Save(ProofDocument document)
    {
        base.Save(document);
        var told = ToldViolation.Of(document);
        foreach (var violation in told)
            WholeFile.Write(Path.Combine(Location, violation.Picture), writer => new TimelinePicture(violation.Result, document.Points).Write(writer));
        if (HandlingDrawing.Of(document) is { } drawing)
            WholeFile.Write(Path.Combine(Location, HandlingDrawing.File), drawing.Write);
        WholeFile.Write(ReportPath, writer => new ProofReport(document).WriteMarkdown(writer));
        // An experiment that was repeated can have ended otherwise.
        foreach (var picture in Directory.GetFiles(Location, ToldViolation.Pictures))
        {
            if (!told.Any(violation => violation.Picture == Path.GetFileName(picture)))
                File.Delete(picture);
        }
    }
}
