using System.Text.Json;

namespace Kit.Proofs;

/// <summary>The tool manifest of a repository that names the tool which proves.</summary>
/// <param name="Folder">The folder from which the tool is run.</param>
internal sealed record ToolManifest(string Folder)
{
    public const string Package = "TransactionModes.Prove";
    public const string Command = "kit-prove";

    private static readonly string[] Paths = [Path.Combine(".config", "dotnet-tools.json"), "dotnet-tools.json"];

    /// <summary>The nearest one, from the folder of the proof file upwards, or else from that of the tests.</summary>
    /// <returns><see langword="null"/>: there is none.</returns>
    /// <exception cref="ProofException">A manifest is not JSON.</exception>
    public static ToolManifest? Find(string folderOfFile) => FindFrom(folderOfFile) ?? FindFrom(AppContext.BaseDirectory);

    private static ToolManifest? FindFrom(string start)
    {
        for (var folder = new DirectoryInfo(start); folder is not null; folder = folder.Parent)
        {
            if (Paths.Select(path => Path.Combine(folder.FullName, path)).Any(path => File.Exists(path) && Names(path)))
                return new ToolManifest(folder.FullName);
        }

        return null;
    }

    private static bool Names(string path)
    {
        try
        {
            using var manifest = JsonDocument.Parse(File.ReadAllText(path), new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip });
            return manifest.RootElement.ValueKind is JsonValueKind.Object
                && manifest.RootElement.TryGetProperty("tools", out var tools) && tools.ValueKind is JsonValueKind.Object
                && tools.EnumerateObject().Any(tool => tool.Name.Equals(Package, StringComparison.OrdinalIgnoreCase));
        }
        catch (JsonException damaged)
        {
            throw new ProofException($"{path} is not a tool manifest: {damaged.Message}", damaged);
        }
    }
}
