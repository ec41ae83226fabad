using System.Text.Json;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>
/// The folder of one throw-away server: <c>owner.json</c> names the process that owns it, <c>server/</c> belongs to the user that
/// the server runs as. If its owner has ended, a crash has left it behind.
/// </summary>
public sealed class OwnedFolder
{
    /// <summary>The remedy if a server's folder cannot be created or written.</summary>
    public const string Remedy =
        $"Free disk space there, give the server's user access to it and every folder above, or name another folder with {ServerPlace.Variable}.";

    // The owner file is written two lines after the folder is created; a folder without one for this long will never get one.
    private static readonly TimeSpan OwnerDeadline = TimeSpan.FromMinutes(10);

    // A killed program can still write, or hold a file open, for a moment.
    private const int DeleteAttempts = 10;
    private static readonly TimeSpan DeletePause = TimeSpan.FromMilliseconds(100);

    private readonly string path;

    private OwnedFolder(string path) => this.path = path;

    /// <summary>Unique on this machine.</summary>
    public string Name => Path.GetFileName(path);

    public string Server => Path.Combine(path, "server");

    private string Owner => Path.Combine(path, "owner.json");

    /// <summary>A new folder that belongs to this process.</summary>
    /// <param name="what">Its purpose, in words.</param>
    /// <exception cref="KitException">The parent cannot be written to, or its disk is full.</exception>
    public static OwnedFolder Create(string parent, string prefix, string what)
    {
        var folder = new OwnedFolder(Path.Combine(parent, prefix + Guid.NewGuid().ToString("N")[..12]));
        try
        {
            CreateForOthers(folder.path);
            File.WriteAllText(folder.Owner, JsonSerializer.Serialize(ProcessIdentity.Current));
            CreatePrivately(folder.Server);
            return folder;
        }
        catch (Exception cause) when (cause is IOException or UnauthorizedAccessException)
        {
            folder.TryDelete();
            throw new KitException($"The {what} needs a folder under {parent}, and it cannot be created: {cause.Message}", Remedy, cause);
        }
    }

    /// <summary>
    /// The folders whose name begins with a prefix and whose owner has ended: under a parent, and where other runs would have created them.
    /// </summary>
    public static IReadOnlyList<OwnedFolder> Leftovers(string parent, string prefix) =>
    [
        .. from place in ServerPlace.WhereLeftoversCanBe(parent)
           where Directory.Exists(place)
           from path in Listed(place, prefix)
           let folder = new OwnedFolder(path)
           where folder.IsLeftover()
           select folder,
    ];

    // In a folder that may not be listed nothing was left by this user, who could not have found it again.
    private static string[] Listed(string place, string prefix)
    {
        try
        {
            return Directory.GetDirectories(place, prefix + "*");
        }
        catch (UnauthorizedAccessException)
        {
            return [];
        }
    }

    /// <summary>Gives the server's files to the user that it runs as.</summary>
    /// <param name="user"><see langword="null"/>: our own, which owns them already.</param>
    public async Task<ProgramResult> HandOverAsync(string? user, CancellationToken cancellationToken) =>
        user is null ? new ProgramResult(0, "") : await new ExternalProgram("chown").RunAsync(["-R", user, Server], cancellationToken);

    /// <summary>Does work that writes into the folder.</summary>
    /// <param name="what">Its purpose, in words.</param>
    /// <exception cref="KitException">The folder cannot be written, or its disk is full.</exception>
    public async Task WriteAsync(string what, Func<Task> work)
    {
        try
        {
            await work();
        }
        catch (Exception cause) when (cause is IOException or UnauthorizedAccessException)
        {
            throw new KitException($"The {what} cannot be written in {Server}: {cause.Message}", Remedy, cause);
        }
    }

    /// <summary>Removes a server that a crash has left behind, if we may.</summary>
    public static async Task TryRemoveAsync(Func<Task> remove)
    {
        try
        {
            await remove();
        }
        catch (Exception refused) when (refused is KitException or IOException or UnauthorizedAccessException)
        {
            // It belongs to another user, who can stop it, or another run is removing it right now; it does no harm.
        }
    }

    /// <summary>Deletes the folder as far as we may. Cannot be cancelled: Ctrl+C leads here.</summary>
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
            // It belongs to another user, or another run is removing it right now. A later run tries again.
        }

        return !Directory.Exists(path);
    }

    /// <summary>Creates a folder that another user can pass through, as which the server may run.</summary>
    private static void CreateForOthers(string folder)
    {
        Directory.CreateDirectory(folder);
        // Our umask may close it to others.
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(
                folder, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute);
        }
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

/// <summary>A text that marks something on a server (a database, a virtual host) as the kit's, and identifies its process.</summary>
public static class OwnerMark
{
    private const string Mark = "comparison kit, removable when this process has ended: ";

    /// <summary>The mark of this process.</summary>
    public static string Text { get; } = Mark + JsonSerializer.Serialize(ProcessIdentity.Current);

    /// <summary>True if a mark is the kit's and its process has ended.</summary>
    public static bool IsOfEndedProcess(string text)
    {
        try
        {
            return text.StartsWith(Mark, StringComparison.Ordinal)
                && JsonSerializer.Deserialize<ProcessIdentity>(text[Mark.Length..]) is { HasEnded: true };
        }
        catch (JsonException)
        {
            return false;
        }
    }
}
