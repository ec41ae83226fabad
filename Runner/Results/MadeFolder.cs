namespace Kit.Runner.Results;

/// <summary>A folder that was made for results, with those above it that were not there either.</summary>
internal sealed class MadeFolder
{
    private readonly List<string> made = [];

    private MadeFolder()
    {
    }

    /// <exception cref="IOException">It cannot be made.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be made.</exception>
    public static MadeFolder Make(string path)
    {
        var all = new MadeFolder();
        for (var folder = Path.GetFullPath(path); folder is not null && !Directory.Exists(folder); folder = Path.GetDirectoryName(folder))
            all.made.Add(folder);
        Directory.CreateDirectory(path);
        return all;
    }

    /// <summary>Removes what was made, as far as nothing was saved there.</summary>
    public void RemoveIfEmpty()
    {
        foreach (var folder in made.TakeWhile(folder => Directory.Exists(folder) && !Directory.EnumerateFileSystemEntries(folder).Any()))
            Directory.Delete(folder);
    }
}
