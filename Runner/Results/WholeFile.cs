using System.Text;

namespace Kit.Runner.Results;

/// <summary>Writes a file completely or not at all: next to its place, forced to disk, then renamed.</summary>
public static class WholeFile
{
    private static readonly UTF8Encoding Encoding = new(encoderShouldEmitUTF8Identifier: false);

    /// <exception cref="KitException">The file cannot be written; an existing one is untouched.</exception>
    public static void Write(string path, Action<TextWriter> content) => WriteBytes(path, stream =>
    {
        using var writer = new StreamWriter(stream, Encoding, leaveOpen: true) { NewLine = "\n" };
        content(writer);
    });

    /// <inheritdoc cref="Write"/>
    public static void WriteBytes(string path, Action<Stream> content)
    {
        var partial = path + ".partial";
        try
        {
            Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(path))!);
            using (var stream = new FileStream(partial, FileMode.Create, FileAccess.Write))
            {
                content(stream);
                stream.Flush(flushToDisk: true);
            }

            File.Move(partial, path, overwrite: true);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Discard(partial);
            throw CannotWrite(path, failure);
        }
    }

    /// <summary>Deletes a file that may not be there.</summary>
    /// <exception cref="KitException">It cannot be deleted.</exception>
    public static void Delete(string path)
    {
        try
        {
            if (File.Exists(path))
                File.Delete(path);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw CannotWrite(path, failure);
        }
    }

    internal static KitException CannotWrite(string path, Exception failure) => new(
        $"Cannot write {path}: {failure.Message}",
        "Free disk space or make the folder writable, or use --out to name another folder for a new run. Everything saved before is intact.",
        failure);

    private static void Discard(string partial)
    {
        try
        {
            File.Delete(partial);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            // A file that cannot be written cannot be removed either; no reader opens a partial file.
            return;
        }
    }
}

/// <summary>Appends to a file and forces it to disk. An incomplete append is undone.</summary>
internal static class AppendedFile
{
    /// <param name="path">Created if it is missing.</param>
    /// <param name="endOf">Gives the end of the file's content; anything after it was left by a process that died while it appended.</param>
    /// <exception cref="KitException">It cannot be appended; the existing content is untouched.</exception>
    public static void Append(string path, ReadOnlySpan<byte> bytes, Func<FileStream, long> endOf)
    {
        try
        {
            Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(path))!);
            using var stream = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.Read, bufferSize: 0);
            var end = endOf(stream);
            try
            {
                stream.SetLength(end);
                stream.Position = end;
                stream.Write(bytes);
                stream.Flush(flushToDisk: true);
            }
            catch
            {
                stream.SetLength(end);
                throw;
            }
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw WholeFile.CannotWrite(path, failure);
        }
    }
}
