using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Proofs;

namespace Kit.Runner.Terminal;

/// <summary>The report of a stored load, drain or proof.</summary>
/// <param name="Kind">Its document, in words.</param>
/// <param name="Write">
/// Writes it again into its folder, and shows it on a terminal of so many columns. Throws a <see cref="Results.KitException"/> if the document is damaged or
/// of another schema, or if a file cannot be written.
/// </param>
internal sealed record StoredReport(string Kind, Action<TextWriter, int> Write)
{
    /// <returns><see langword="null"/>: the folder has none.</returns>
    public static StoredReport? In(string folder) =>
        new LoadFolder(folder) is { Exists: true } load ? new("a load", (output, width) => WriteLoad(load, output, width))
        : new DrainFolder(folder) is { Exists: true } drain ? new("a drain", (output, width) => WriteDrain(drain, output, width))
        : new ProofFolder(folder) is { Exists: true } proof ? new("a proof", (output, _) => WriteProof(proof, output))
        : null;

    private static void WriteLoad(LoadFolder folder, TextWriter output, int width)
    {
        var document = folder.LoadDocument();
        folder.Save(document);
        LoadReport.WriteTerminal(document, output, width);
        output.WriteLine($"\nTables: {folder.ReportPath}");
    }

    private static void WriteDrain(DrainFolder folder, TextWriter output, int width)
    {
        var document = folder.LoadDocument();
        folder.Save(document);
        new DrainTables(document).WriteTerminal(output, width);
        output.WriteLine($"\nReport: {folder.ReportPath}");
    }

    private static void WriteProof(ProofFolder folder, TextWriter output)
    {
        var document = folder.LoadDocument();
        folder.Save(document);
        output.WriteLine($"{new ProofReport(document).Summary}\n\nReport: {folder.ReportPath}");
    }
}
