using Kit.Runner.Results;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Servers;

/// <summary>A folder in which the kit's own servers can keep their files.</summary>
/// <param name="FileSystem">As the system names it: <c>ext4</c>, <c>tmpfs</c>, <c>NTFS</c>.</param>
/// <param name="IsInMemory">True if its content is lost when the machine stops, so that a flush costs nothing.</param>
public sealed record ServerPlace(string Path, string FileSystem, bool IsInMemory)
{
    /// <summary>The environment variable that names a folder to try before all others.</summary>
    public const string Variable = "KIT_TEMP";

    /// <summary>The option that allows a folder in memory.</summary>
    public const string Option = "--no-durability";

    /// <summary>
    /// The first folder on a disk, of these: <see cref="Variable"/>, the one for temporary files, <c>/var/tmp</c>, the user's cache.
    /// </summary>
    /// <param name="allowsMemory">True to use the folder that the user names even if it is in memory, and any if none is on a disk.</param>
    /// <exception cref="KitException">The variable names no existing folder, or none is on a disk and memory is not allowed.</exception>
    public static ServerPlace Choose(bool allowsMemory)
    {
        var named = Environment.GetEnvironmentVariable(Variable);
        return Choose(Candidates(named), allowsMemory, isFirstNamed: !string.IsNullOrEmpty(named));
    }

    /// <inheritdoc cref="Choose(bool)" path="/summary"/>
    /// <inheritdoc cref="Choose(bool)" path="/exception"/>
    internal static ServerPlace Choose(IReadOnlyList<ServerPlace> candidates, bool allowsMemory, bool isFirstNamed) =>
        allowsMemory && isFirstNamed
            ? candidates[0]
            : candidates.OrderBy(place => place.IsInMemory).FirstOrDefault(place => allowsMemory || !place.IsInMemory)
                ?? throw new KitException(
                    "None of the folders for the kit's own servers is on a disk: " +
                    $"{string.Join(", ", candidates.Select(place => $"{place.Path} ({place.FileSystem}, in memory)"))}.",
                    $"Set {Variable} to a folder on a disk. A 'run' can also have {Option}: a flush costs nothing then, and every table says so.");

    /// <summary>The place, and the cost of a flush there.</summary>
    /// <exception cref="KitException">The folder cannot be written.</exception>
    public DiskFacts MeasureDisk()
    {
        try
        {
            return new DiskFacts(Path, FileSystem, IsInMemory, FlushTimer.Measure(Path, FlushTimer.Enough));
        }
        catch (Exception cause) when (cause is IOException or UnauthorizedAccessException)
        {
            throw new KitException($"A flush cannot be timed in {Path}: {cause.Message}", OwnedFolder.Remedy, cause);
        }
    }

    /// <summary>The existing folders, in their order.</summary>
    /// <param name="named">The value of <see cref="Variable"/>.</param>
    /// <exception cref="KitException">It is not empty, and is not an existing folder.</exception>
    internal static IReadOnlyList<ServerPlace> Candidates(string? named)
    {
        if (!string.IsNullOrEmpty(named) && !Directory.Exists(named))
            throw new KitException($"{Variable} names {named}, which is not a folder.", "Create it, name another, or unset the variable.");

        return [.. Folders(named).Distinct(StringComparer.Ordinal).Select(Of)];
    }

    /// <summary>The folders in which a crashed run may have left its servers: the current one, and those that other runs would use.</summary>
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

    /// <summary>The place with the file system of a folder.</summary>
    private static ServerPlace Of(string path)
    {
        var drive = new DriveInfo(OperatingSystem.IsWindows() ? System.IO.Path.GetPathRoot(path)! : path);
        return new ServerPlace(path, drive.DriveFormat, drive.DriveType is DriveType.Ram);
    }
}
