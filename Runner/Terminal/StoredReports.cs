using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Proofs;

namespace Kit.Runner.Terminal;

/// <summary>Writes the report of a load, a drained service or a proof again, from its folder.</summary>
internal static class StoredReports
{
    /// <summary>The document of a folder, in words; <see langword="null"/>: it has none of these.</summary>
    public static string? KindOf(string folder) =>
        new LoadFolder(folder).Exists ? "a load"
        : new DrainFolder(folder).Exists ? "a drain"
        : new ProofFolder(folder).Exists ? "a proof"
        : null;

    /// <param name="folder">One that has such a document.</param>
    /// <param name="width">Columns of the terminal.</param>
    /// <exception cref="Results.KitException">The document is damaged or of another schema, or a file cannot be written.</exception>
    public static void Write(string folder, TextWriter output, int width)
    {
        if (new LoadFolder(folder) is { Exists: true } loads)
        {
            var load = loads.LoadDocument();
            loads.Save(load);
            LoadReport.WriteTerminal(load, output, width);
            output.WriteLine($"\nTables: {loads.ReportPath}");
        }
        else if (new DrainFolder(folder) is { Exists: true } drains)
        {
            var drain = drains.LoadDocument();
            drains.Save(drain);
            new DrainTables(drain).WriteTerminal(output, width);
            output.WriteLine($"\nReport: {drains.ReportPath}");
        }
        else
        {
            var proofs = new ProofFolder(folder);
            var proof = proofs.LoadDocument();
            proofs.Save(proof);
            output.WriteLine($"{new ProofReport(proof).Summary}\n\nReport: {proofs.ReportPath}");
        }
    }
}
