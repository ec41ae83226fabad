using System.Text.Json;

namespace Kit.Runner.Servers;

/// <summary>
/// The folder of one throw-away cluster: <c>owner.json</c> names the process that it lives for, <c>server/</c> belongs to the user that
/// the server runs as. A folder whose owner has ended is a leftover of a crash.
/// </summary>
public sealed class ClusterFolder
{
    /// <summary>What to do when a cluster's folder cannot be made or written.</summary>
    public const string Remedy =
        "Make room there, let the server's user enter every folder above and write, or name another folder for temporary files with TMPDIR (TEMP on Windows).";

    private const string Prefix = "kit-postgresql-";

    // Between a folder and its owner file lie two lines of code; one that has had no owner for this long will get none.
    private static readonly TimeSpan OwnerDeadline = TimeSpan.FromMinutes(10);

    private readonly string path;

    private ClusterFolder(string path) => this.path = path;

    public string Server => Path.Combine(path, "server");

    public string Data => Path.Combine(Server, "data");

    public string Log => Path.Combine(Server, "log");

    public string Password => Path.Combine(Server, "password");

    public string Owner => Path.Combine(path, "owner.json");

    /// <summary>A new folder that belongs to this process.</summary>
    /// <exception cref="KitException">The parent cannot be written to, or its disk is full.</exception>
    public static ClusterFolder Create(string parent)
    {
        var folder = new ClusterFolder(Path.Combine(parent, Prefix + Guid.NewGuid().ToString("N")[..12]));
        try
        {
            Directory.CreateDirectory(folder.path);
            File.WriteAllText(folder.Owner, JsonSerializer.Serialize(ProcessIdentity.Current));
            CreatePrivately(folder.Server);
            return folder;
        }
        catch (Exception cause) when (cause is IOException or UnauthorizedAccessException)
        {
            folder.TryDelete();
            throw new KitException(
                $"The private PostgreSQL cluster needs a folder under {parent}, and it cannot be made: {cause.Message}",
                Remedy,
                cause);
        }
    }

    /// <summary>The folders under a parent whose owner has ended.</summary>
    public static IReadOnlyList<ClusterFolder> Leftovers(string parent) =>
        Directory.Exists(parent)
            ? [.. Directory.EnumerateDirectories(parent, Prefix + "*").Select(path => new ClusterFolder(path)).Where(folder => folder.IsLeftover())]
            : [];

    /// <summary>Deletes the folder as far as it is ours to delete; gives whether it is gone.</summary>
    public bool TryDelete()
    {
        try
        {
            Directory.Delete(path, recursive: true);
        }
        catch (Exception refused) when (refused is IOException or UnauthorizedAccessException)
        {
            // Another user's leftover, or another run removes it at this moment. Whoever is left sees it again.
        }

        return !Directory.Exists(path);
    }

    private static void CreatePrivately(string folder)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(folder);
        else
            Directory.CreateDirectory(folder, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    private bool IsLeftover()
    {
        try
        {
            return JsonSerializer.Deserialize<ProcessIdentity>(File.ReadAllText(Owner)) is { HasEnded: true };
        }
        catch (Exception unreadable) when (unreadable is IOException or JsonException)
        {
            return DateTime.UtcNow - Directory.GetCreationTimeUtc(path) > OwnerDeadline;
        }
        catch (UnauthorizedAccessException)
        {
            return false;
        }
    }
}
