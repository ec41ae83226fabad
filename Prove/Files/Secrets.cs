using System.Collections;
using System.Data.Common;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.RegularExpressions;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Prove.Files;

/// <summary>The passwords that a user wrote into a proof file. Whatever a command shows or stores passes through here, and has none of them.</summary>
internal sealed class Secrets
{
    /// <summary>
    /// A shorter one, a number, a word such as "true", and one that is also a name in the file are masked only where they stand as passwords: without that,
    /// reports would lose words that say nothing of it.
    /// </summary>
    private const int Shortest = 4;

    private static readonly IReadOnlyList<string> Everywhere = ["true", "false", "null", "none"];

    private static readonly JsonDocumentOptions Reading = new() { CommentHandling = JsonCommentHandling.Skip, AllowTrailingCommas = true };

    private readonly IReadOnlySet<string> found;
    private readonly IReadOnlySet<string> names;
    private readonly Regex? known;
    private readonly JsonSerializerOptions masking;

    private Secrets(IReadOnlySet<string> found, IReadOnlySet<string> names)
    {
        (this.found, this.names) = (found, names);
        List<string> all = [.. found.SelectMany(FormsOf).Where(one => one.Length >= Shortest && !NumberOrWord(one)).Except(names).Distinct()];
        known = all.Count == 0
            ? null
            : new Regex(string.Join('|', all.OrderByDescending(one => one.Length).Select(PatternOf)), RegexOptions.None, Regex.InfiniteMatchTimeout);
        masking = new JsonSerializerOptions(ResultJson.Options) { Converters = { new MaskedText(this) } };
    }

    /// <summary>The passwords in the text of a file, also in one that cannot be used.</summary>
    public static Secrets In(string text)
    {
        var passwords = new HashSet<string>(Passwords.In(text));
        var named = new HashSet<string>();
        try
        {
            using var document = JsonDocument.Parse(text, Reading);
            Collect(document.RootElement, "", passwords);
            CollectNames(document.RootElement, "", named);
        }
        catch (JsonException)
        {
            // Nothing of it is shown but the place of the error.
        }

        // A service inherits them, and can print them. What the file has in another place is no secret.
        passwords.UnionWith(Inherited.Where(value => !text.Contains(value, StringComparison.Ordinal)));
        return new Secrets(passwords, named);
    }

    /// <summary>These and others.</summary>
    public Secrets With(IEnumerable<string> others) => new(found.Union(others).ToHashSet(), names);

    /// <summary>The passwords of the kit's own variables. PWD has the folder of the shell.</summary>
    private static IEnumerable<string> Inherited =>
        from DictionaryEntry variable in Environment.GetEnvironmentVariables()
        let value = (string?)variable.Value
        where Passwords.AreNamed((string)variable.Key) && value?.Length > 0 && !Path.IsPathRooted(value)
        select value;

    public string Mask(string text) => Passwords.Mask(known?.Replace(text, Passwords.Masked) ?? text);

    /// <summary>A document with every text masked.</summary>
    public T Masked<T>(T document) => JsonSerializer.Deserialize<T>(JsonSerializer.Serialize(document, masking), ResultJson.Options)!;

    /// <summary>A failure without passwords; <see langword="null"/>: it has none.</summary>
    public Exception? MaskedFailure(Exception failure)
    {
        if (failure is OperationCanceledException)
            return null;

        var text = $"{failure}";
        var (message, remedy) = (KitException.MessageOf(failure), (failure as KitException)?.Remedy);
        if (Mask(text) == text && Mask(message) == message && (remedy is null || Mask(remedy) == remedy))
            return null;

        var masked = new MaskedException(Mask(message), Mask(text));
        return failure is KitException { IsUsage: var isUsage } ? new KitException(masked.Message, Mask(remedy!), masked) { IsUsage = isUsage } : masked;
    }

    /// <summary>Does something whose failures are to be without passwords.</summary>
    public async Task<T> MaskingFailuresAsync<T>(Func<Task<T>> work)
    {
        try
        {
            return await work();
        }
        catch (Exception failure) when (MaskedFailure(failure) is not null)
        {
            throw MaskedFailure(failure)!;
        }
    }

    /// <summary>A writer that masks what it passes on.</summary>
    public TextWriter Over(TextWriter output) => new MaskedWriter(output, this);

    private static void Collect(JsonElement element, string name, HashSet<string> found)
    {
        switch (element.ValueKind)
        {
            case JsonValueKind.Object:
                foreach (var property in element.EnumerateObject())
                    Collect(property.Value, property.Name, found);
                break;
            case JsonValueKind.Array:
                var before = "";
                foreach (var one in element.EnumerateArray())
                {
                    // ["--password", "…"]
                    Collect(one, before.StartsWith('-') ? before : name, found);
                    before = one.ValueKind is JsonValueKind.String ? one.GetString()! : "";
                }

                break;
            case JsonValueKind.String:
                var text = element.GetString()!;
                if (Passwords.AreNamed(name))
                {
                    found.UnionWith(Passwords.WithoutPlaceholders(text));
                    // As the file has it, with its escapes.
                    found.UnionWith(Passwords.WithoutPlaceholders(element.GetRawText()[1..^1]));
                }

                found.UnionWith(Passwords.In(text));
                found.UnionWith(InConnectionString(text));
                break;
            default:
                // A number, true, false or null is no text.
                break;
        }
    }

    /// <summary>Such a password may have spaces and separators in it.</summary>
    private static IEnumerable<string> InConnectionString(string text)
    {
        try
        {
            var settings = new DbConnectionStringBuilder { ConnectionString = text };
            return [.. settings.Keys.Cast<string>().Where(Passwords.AreNamed).SelectMany(key => Passwords.WithoutPlaceholders($"{settings[key]}"))];
        }
        catch (ArgumentException)
        {
            return [];
        }
    }

    /// <summary>The names that reports need: of the service, and of its databases, queues and effects.</summary>
    private static void CollectNames(JsonElement element, string key, HashSet<string> names)
    {
        if (element.ValueKind is JsonValueKind.Object)
        {
            foreach (var property in element.EnumerateObject().Where(property => property.Name is not ("environment" or "headers")))
                CollectNames(property.Value, property.Name, names);
        }
        else if (element.ValueKind is JsonValueKind.Array)
        {
            foreach (var one in element.EnumerateArray())
                CollectNames(one, key, names);
        }
        else if (element.ValueKind is JsonValueKind.String && key is "name" or "databases" or "database" or "queues" or "queue")
        {
            names.Add(element.GetString()!);
        }
    }

    /// <summary>In an address a password has escapes, which a program takes away.</summary>
    private static IEnumerable<string> FormsOf(string secret) => [secret, Uri.UnescapeDataString(secret), Uri.EscapeDataString(secret)];

    private static bool NumberOrWord(string secret) =>
        Everywhere.Contains(secret, StringComparer.OrdinalIgnoreCase) || (secret.Length < 6 && secret.All(char.IsAsciiDigit));

    // Not within a longer word. In JSON the letter of an escape is before it: \n.
    private static string PatternOf(string secret) =>
        (char.IsLetterOrDigit(secret[0]) ? @"(?:(?<![\p{L}\d])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))" : "") + Regex.Escape(secret) +
        (char.IsLetterOrDigit(secret[^1]) ? @"(?![\p{L}\d])" : "");

    private sealed class MaskedText(Secrets secrets) : JsonConverter<string>
    {
        public override string? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) => reader.GetString();

        public override void Write(Utf8JsonWriter writer, string value, JsonSerializerOptions options) => writer.WriteStringValue(secrets.Mask(value));

        public override void WriteAsPropertyName(Utf8JsonWriter writer, string value, JsonSerializerOptions options) => writer.WritePropertyName(value);
    }

    /// <summary>A failure whose texts had passwords, those of its causes and its stack trace included.</summary>
    private sealed class MaskedException(string message, string whole) : Exception(message)
    {
        public override string ToString() => whole;
    }

    /// <summary>Texts are masked one by one: whoever writes through it does not split a line.</summary>
    private sealed class MaskedWriter(TextWriter output, Secrets secrets) : TextWriter
    {
        public override Encoding Encoding => output.Encoding;

        public override void Write(char value) => output.Write(value);

        public override void Write(char[] buffer, int index, int count) => Write(new string(buffer, index, count));

        public override void Write(string? value) => output.Write(value is null ? null : secrets.Mask(value));

        public override void WriteLine(string? value) => output.WriteLine(value is null ? null : secrets.Mask(value));

        public override void WriteLine() => output.WriteLine();

        public override Task WriteLineAsync(string? value) => output.WriteLineAsync(value is null ? null : secrets.Mask(value));

        public override Task WriteLineAsync() => output.WriteLineAsync();

        public override void Flush() => output.Flush();
    }
}
