namespace Kit.Runner.Results;

/// <summary>Keeps a second process from measuring into a folder. The system ends a claim with its process, even a killed one.</summary>
public sealed class FolderClaim : IDisposable
{
    internal const string File = ".running";

    private readonly FileStream stream;
    private readonly MadeFolder? made;

    private FolderClaim(FileStream stream, MadeFolder? made) => (this.stream, this.made) = (stream, made);

    /// <summary>Creates the folder if it is not there, and claims it. At the end it is removed if it was not there and is empty.</summary>
    /// <inheritdoc cref="Take(string)" path="/exception"/>
    public static FolderClaim TakeOrCreate(string folder)
    {
        try
        {
            return Take(folder, MadeFolder.Make(folder));
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw WholeFile.CannotWrite(folder, failure);
        }
    }

    /// <param name="folder">A folder that exists.</param>
    /// <exception cref="KitException">A process is measuring into it, or it cannot be written.</exception>
    public static FolderClaim Take(string folder) => Take(folder, made: null);

    private static FolderClaim Take(string folder, MadeFolder? made)
    {
        var path = Path.Combine(folder, File);
        try
        {
            return new FolderClaim(
                new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None, bufferSize: 0, FileOptions.DeleteOnClose), made);
        }
        catch (IOException) when (System.IO.File.Exists(path))
        {
            throw new KitException($"A command is writing into {folder}.", "Wait for its end, or stop it with Ctrl+C.");
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw WholeFile.CannotWrite(path, failure);
        }
    }

    public void Dispose()
    {
        stream.Dispose();
        made?.RemoveIfEmpty();
    }
}
