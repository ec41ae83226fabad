namespace Kit.Runner.Results;

/// <summary>Reads a whole file.</summary>
internal static class StoredFile
{
    /// <exception cref="KitException">The file is missing or may not be read.</exception>
    public static string Text(string path) => Read(path, File.ReadAllText);

    /// <inheritdoc cref="Text"/>
    public static byte[] Bytes(string path) => Read(path, File.ReadAllBytes);

    private static T Read<T>(string path, Func<string, T> read)
    {
        try
        {
            return read(path);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new KitException($"Cannot read {path}: {failure.Message}", "Check that the file exists and is readable.", failure);
        }
    }
}
