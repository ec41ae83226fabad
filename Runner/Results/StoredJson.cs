using System.Text.Json;

namespace Kit.Runner.Results;

/// <summary>Reads a stored document, and refuses one that is damaged or of another schema.</summary>
internal static class StoredJson
{
    /// <param name="place">Its file, and its line if a file has several.</param>
    /// <exception cref="KitException">It is damaged or of another schema; the message names the place.</exception>
    public static T Read<T>(string text, string place) => Parse(place, () =>
    {
        using var document = JsonDocument.Parse(text);
        var schema = SchemaOf(document.RootElement);
        return string.Equals(schema, Figures.Plain(ResultJson.Schema), StringComparison.Ordinal)
            ? document.Deserialize<T>(ResultJson.Options)
            : throw OfAnotherSchema(place, schema);
    });

    /// <summary>Reads a line that has no schema of its own.</summary>
    /// <param name="place">Its file and number.</param>
    /// <exception cref="KitException">It is damaged; the message names the place.</exception>
    public static T ReadLine<T>(string text, string place) => Parse(place, () => JsonSerializer.Deserialize<T>(text, ResultJson.Options));

    /// <inheritdoc cref="Read"/>
    /// <exception cref="KitException">The file is missing or may not be read.</exception>
    public static T ReadFile<T>(string path) => Read<T>(StoredFile.Text(path), path);

    private static T Parse<T>(string place, Func<T?> read)
    {
        try
        {
            return read() ?? throw Damaged(place, "it is empty");
        }
        catch (JsonException failure)
        {
            throw Damaged(place, failure.Message, failure);
        }
    }

    private static string SchemaOf(JsonElement root) =>
        root.ValueKind is JsonValueKind.Object && root.TryGetProperty("schema", out var schema) ? schema.GetRawText() : "none";

    private static KitException OfAnotherSchema(string place, string schema) => new(
        $"Cannot read {place}: it is of schema {schema}, and this kit reads schema {ResultJson.Schema}.",
        "Use the build of the kit that wrote it.");

    public static KitException Damaged(string place, string because, Exception? cause = null) =>
        new($"Cannot read {place}, it is damaged: {because}", "Restore it from a copy, or measure again.", cause);
}

/// <summary>Reads a whole file.</summary>
public static class StoredFile
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
