using System.Text.Json;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>
/// The folder of one throw-away server: <c>owner.json</c> names the process that it lives for, <c>server/</c> belongs to the user that
/// the server runs as. A folder whose owner has ended is a leftover of a crash.
/// </summary>
public sealed class OwnedFolder
{
    /// <summary>What to do when a server's folder cannot be made or written.</summary>
    public const string Remedy =
        $"Make room there, let the server's user enter every folder above and write, or name another folder with {ServerPlace.Variable}.";

    // Between a folder and its owner file lie two lines of code; one that has had no owner for this long will get none.
    private static readonly TimeSpan OwnerDeadline = TimeSpan.FromMinutes(10);

    // A program that was killed can write, or hold a file open, for a moment longer.
    private const int DeleteAttempts = 10;
    private static readonly TimeSpan DeletePause = TimeSpan.FromMilliseconds(100);

    private readonly string path;

    private OwnedFolder(string path) => this.path = path;

    /// <summary>Unique on this machine.</summary>
    public string Name => Path.GetFileName(path);

    public string Server => Path.Combine(path, "server");

    private string Owner => Path.Combine(path, "owner.json");

    /// <summary>A new folder that belongs to this process.</summary>
    /// <param name="prefix">What its name begins with.</param>
    /// <param name="what">What it is for, in words.</param>
    /// <exception cref="KitException">The parent cannot be written to, or its disk is full.</exception>
    public static OwnedFolder Create(string parent, string prefix, string what)
    {
        var folder = new OwnedFolder(Path.Combine(parent, prefix + Guid.NewGuid().ToString("N")[..12]));
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
            throw new KitException($"The {what} needs a folder under {parent}, and it cannot be made: {cause.Message}", Remedy, cause);
        }
    }

    /// <summary>
    /// The folders whose name begins with a prefix and whose owner has ended: under a parent, and wherever another run would have made them.
    /// </summary>
    public static IReadOnlyList<OwnedFolder> Leftovers(string parent, string prefix) =>
    [
        .. from place in ServerPlace.WhereLeftoversCanBe(parent)
           where Directory.Exists(place)
           from path in Directory.EnumerateDirectories(place, prefix + "*")
           let folder = new OwnedFolder(path)
           where folder.IsLeftover()
           select folder,
    ];

    /// <summary>Gives what belongs to the server to the user that it runs as.</summary>
    /// <param name="user"><see langword="null"/>: our own, who has it already.</param>
    public async Task<ProgramResult> HandOverAsync(string? user, CancellationToken cancellationToken) =>
        user is null ? new ProgramResult(0, "") : await new ExternalProgram("chown").RunAsync(["-R", user, Server], cancellationToken);

    /// <summary>Deletes the folder as far as it is ours to delete. Never cancelled: a Ctrl+C is what leads here.</summary>
    public async Task DeleteAsync()
    {
        for (var attempt = 1; !TryDelete() && attempt < DeleteAttempts; attempt++)
            await Task.Delay(DeletePause);
    }

    private bool TryDelete()
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
