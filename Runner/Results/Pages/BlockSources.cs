using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Pages;

/// <summary>The sources of a block: the folders that its mark names, and the cells that the kit can run.</summary>
internal sealed class BlockSources
{
    private const string Loaded = "a load (load.json)";

    private readonly string page;
    private readonly Repository repository;

    /// <param name="page">The file of the block, from the root.</param>
    /// <exception cref="KitException">A folder is not there, or holds neither a run nor experiments.</exception>
    public BlockSources(string page, Block block, Repository repository)
    {
        (this.page, Block, this.repository) = (page, block, repository);
        Folders = [.. block.Folders.Select(repository.FolderOf)];
    }

    public Block Block { get; }

    /// <summary>The folders in the order of the mark.</summary>
    public IReadOnlyList<SourceFolder> Folders { get; }

    public IReadOnlyList<ShownKind> Kinds => repository.Kinds;

    /// <summary>The run of the one folder that holds one.</summary>
    public RunSource Run => OnlyOne([.. Folders.Select(folder => folder.Run).OfType<RunSource>()], "a run (run.json)");

    /// <summary>The run of the one folder that holds one; <see langword="null"/> if no folder holds a run.</summary>
    public RunSource? RunOrNone => Folders.Any(folder => folder.Run is not null) ? Run : null;

    /// <summary>The folders with loads; there is at least one.</summary>
    public IReadOnlyList<SourceFolder> Loads => Folders.Where(folder => folder.Load is not null).ToList() is { Count: > 0 } found ? found : throw Lacks(Loaded);

    /// <summary>The experiments of the one folder that has storms.</summary>
    public FaultSource Storms => OnlyOne([.. FoldersWithFaults.Where(folder => folder.Storms.Count > 0)], "storms (faults.json)");

    /// <summary>The experiments of the one folder that has storms; <see langword="null"/> if none has.</summary>
    public FaultSource? StormsOrNone => FoldersWithFaults.Any(folder => folder.Storms.Count > 0) ? Storms : null;

    /// <summary>The experiments of each folder that has some; at least one has.</summary>
    public IReadOnlyList<FaultSource> Experiments => FoldersWithFaults is { Count: > 0 } found ? found : throw Lacks("experiments (faults.json)");

    private IReadOnlyList<FaultSource> FoldersWithFaults => [.. Folders.Select(folder => folder.Faults).OfType<FaultSource>()];

    /// <summary>The page's link to a file.</summary>
    /// <param name="path">From the root.</param>
    public string LinkTo(string path) =>
        Path.GetRelativePath(Path.GetDirectoryName(page) is { Length: > 0 } folder ? folder : ".", path).Replace('\\', '/');

    /// <summary>A link that says which folder it leads to.</summary>
    public string LinkTo(RunSource run) => $"[{run.Folder}]({LinkTo(run.Tables)})";

    /// <inheritdoc cref="LinkTo(RunSource)"/>
    public string LinkTo(FaultSource faults) => $"[{faults.Folder}]({LinkTo(faults.Tables)}){LackOf(faults)}";

    /// <summary>A link to the tables of a folder, whatever it holds.</summary>
    public string LinkToTables(SourceFolder folder) =>
        $"[{folder.Folder}]({LinkTo(folder.Run?.Tables ?? folder.Faults?.Tables ?? $"{folder.Folder}/{LoadFolder.TablesFile}")})";

    /// <summary>A link to the experiments, with their day and build.</summary>
    public string MadeIn(FaultSource faults) =>
        $"{LinkTo(faults)}, {Figures.Day(faults.Document.StartedUtc)}" + (faults.Document.Commit is { } commit ? $", commit {commit.Name}" : "");

    /// <summary>What must stand next to the figures of experiments that are not whole, in brackets; nothing if they are.</summary>
    public static string LackOf(FaultSource faults) => faults.Lacks is [] ? "" : $" (**{string.Join(" ", faults.Lacks)}**)";

    /// <exception cref="KitException">The file may not be read.</exception>
    public string TextOf(string path) => repository.TextOf(path);

    public bool HasFile(string path) => repository.HasFile(path);

    private T OnlyOne<T>(IReadOnlyList<T> found, string what) where T : class => found switch
    {
        [] => throw Lacks(what),
        [var one] => one,
        _ => throw new KitException($"it names {Figures.Plain(found.Count)} folders with {what}, and needs one.", "Leave the others out of its mark."),
    };

    private KitException Lacks(string what) => new(
        Block.Folders.Count == 0
            ? $"it needs a folder with {what}, and its mark names none."
            : $"it needs a folder with {what}, and there is none in {string.Join(", ", Block.Folders)}.",
        $"Name one: <!-- block: {Block.Name} from results/FOLDER -->");
}
