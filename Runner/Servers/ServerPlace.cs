using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>A folder that the kit's own servers can keep their files in.</summary>
/// <param name="Path">Its full path.</param>
/// <param name="FileSystem">As the system names its kind: <c>ext4</c>, <c>tmpfs</c>, <c>NTFS</c>.</param>
/// <param name="IsInMemory">Whether what is written there is lost with the machine, so that a flush costs nothing.</param>
public sealed record ServerPlace(string Path, string FileSystem, bool IsInMemory)
{
    /// <summary>The environment variable that names a folder before all others.</summary>
    public const string Variable = "KIT_TEMP";

    /// <summary>The option that allows a folder in memory.</summary>
    public const string Option = "--no-durability";

    /// <summary>
    /// Of the folder that <see cref="Variable"/> names, the one for temporary files, <c>/var/tmp</c> and the user's cache the first that is on
    /// a disk.
    /// </summary>
    /// <param name="allowsMemory">Whether the first is taken whatever it is on.</param>
    /// <exception cref="KitException">The variable names no folder, or none is on a disk and that was not allowed.</exception>
    public static ServerPlace Choose(bool allowsMemory) => Choose(Candidates(Environment.GetEnvironmentVariable(Variable)), allowsMemory);

    /// <inheritdoc cref="Choose(bool)" path="/summary"/>
    /// <inheritdoc cref="Choose(bool)" path="/exception"/>
    internal static ServerPlace Choose(IReadOnlyList<ServerPlace> candidates, bool allowsMemory) =>
        candidates.FirstOrDefault(place => allowsMemory || !place.IsInMemory)
        ?? throw new KitException(
            "None of the folders for the kit's own servers is on a disk: " +
            $"{string.Join(", ", candidates.Select(place => $"{place.Path} ({place.FileSystem}, in memory)"))}.",
            $"Set {Variable} to a folder on a disk, or add {Option}: a flush costs nothing then, and every table says so.");

    /// <summary>Those that are there, in their order.</summary>
    /// <param name="named">What <see cref="Variable"/> says.</param>
    /// <exception cref="KitException">It says something, and that is no folder.</exception>
    internal static IReadOnlyList<ServerPlace> Candidates(string? named)
    {
        if (!string.IsNullOrEmpty(named) && !Directory.Exists(named))
            throw new KitException($"{Variable} names {named}, which is no folder.", "Make it, name another, or unset the variable.");

        return [.. Folders(named).Distinct(StringComparer.Ordinal).Select(Of)];
    }

    /// <summary>The folders that servers of a crashed run can have been left in: the one that is used now, and those that another run would use.</summary>
    internal static IEnumerable<string> WhereLeftoversCanBe(string parent) =>
        new[] { System.IO.Path.TrimEndingDirectorySeparator(parent) }
            .Concat(Folders(Environment.GetEnvironmentVariable(Variable)))
            .Distinct(StringComparer.Ordinal);

    private static IEnumerable<string> Folders(string? named) =>
        from folder in new[] { named, System.IO.Path.GetTempPath(), "/var/tmp", Cache }
        where !string.IsNullOrEmpty(folder) && Directory.Exists(folder)
        select System.IO.Path.TrimEndingDirectorySeparator(System.IO.Path.GetFullPath(folder));

    private static string Cache => Environment.GetEnvironmentVariable("XDG_CACHE_HOME") is { Length: > 0 } cache
        ? cache
        : System.IO.Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".cache");

    /// <summary>What a folder is on.</summary>
    private static ServerPlace Of(string path)
    {
        var drive = new DriveInfo(OperatingSystem.IsWindows() ? System.IO.Path.GetPathRoot(path)! : path);
        return new ServerPlace(path, drive.DriveFormat, drive.DriveType is DriveType.Ram);
    }
}
