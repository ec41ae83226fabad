namespace Kit.Runner.Results;

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
