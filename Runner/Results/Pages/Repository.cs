using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>The files that pages are made from. A folder of results is read once.</summary>
/// <param name="root">The folder of Kit.sln.</param>
internal sealed class Repository(string root, IReadOnlyList<ShownKind> kinds)
{
    private readonly Dictionary<string, SourceFolder> folders = new(StringComparer.Ordinal);

    public IReadOnlyList<ShownKind> Kinds => kinds;

    /// <exception cref="KitException">It may not be read.</exception>
    public string TextOf(string path) => StoredFile.Text(Path.Combine(root, path));

    public bool HasFile(string path) => File.Exists(Path.Combine(root, path));

    /// <param name="named">A folder from the root, with a slash, or a part of the publication.</param>
    /// <exception cref="KitException">It is not there, holds neither a run nor experiments, or is damaged.</exception>
    public SourceFolder FolderOf(string named)
    {
        var folder = Publication.FolderNamed(root, named);
        if (!folders.TryGetValue(folder, out var found))
            folders[folder] = found = Load(folder);
        return found;
    }

    private SourceFolder Load(string folder)
    {
        var path = Path.Combine(root, folder);
        if (!Directory.Exists(path))
            throw new KitException($"there is no folder {folder}.", "Name a folder of results, as the path from the root of the repository.");
        var load = new LoadFolder(path);
        if (!RunFolder.IsIn(path) && !new FaultFolder(path).Exists)
        {
            return load.Exists
                ? new SourceFolder(folder, Run: null, Faults: null) { Load = load.LoadDocument() }
                : throw new KitException(
                    $"{folder} holds no run ({RunFolder.RunFile}), no experiments ({FaultFolder.DocumentFile}) and no load ({LoadFolder.DocumentFile}).",
                    "Name a folder that does.");
        }

        var stored = ResultFolder.Load(path);
        return new SourceFolder(
            folder,
            stored.Run is { } run ? new RunSource(folder, run) : null,
            stored.Guarantees is { } report ? new FaultSource(folder, report.Document, report.Ordered) { Lacks = [.. report.Lacks()] } : null);
    }
}
