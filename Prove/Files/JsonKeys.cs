using System.Text.Json;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Prove.Files;

/// <summary>An object of a proof file. A key that it must not have, lacks, or has with another kind of value is an error with its place.</summary>
internal sealed class JsonKeys
{
    private readonly JsonElement element;
    private readonly string file;
    private readonly string place;
    private readonly IReadOnlyList<string> keys;

    /// <param name="element">The object, or another kind of value.</param>
    /// <param name="place">In the file; empty for the whole file.</param>
    /// <exception cref="KitException">It is not an object, or has another key.</exception>
    public JsonKeys(JsonElement element, string file, string place, params IReadOnlyList<string> keys)
    {
        (this.element, this.file, this.place, this.keys) = (element, file, place, keys);
        if (element.ValueKind is not JsonValueKind.Object)
            throw Wrong("", "an object in braces", element);
        foreach (var property in element.EnumerateObject())
        {
            if (!keys.Contains(property.Name))
                throw Error($"unknown key '{property.Name}'{In(place)}", $"Keys{In(place)}: {string.Join(", ", keys)}.");
        }

        if (element.EnumerateObject().GroupBy(property => property.Name).FirstOrDefault(named => named.Count() > 1) is { } twice)
            throw Error($"the key '{twice.Key}' is there twice{In(place)}", "Leave out one of them.");
    }

    public bool Has(string key) => element.TryGetProperty(key, out _);

    /// <summary>The keys of this list that it has.</summary>
    public IReadOnlyList<string> Among(params IReadOnlyList<string> some) => [.. some.Where(Has)];

    public string Text(string key) => Value(key, JsonValueKind.String, "a text").GetString() is { Length: > 0 } text
        ? text
        : throw Error($"'{PlaceOf(key)}' is empty", $"Give it a value, or see {Documentation}.");

    public string Text(string key, string unlessThere) => Has(key) ? Text(key) : unlessThere;

    public int Number(string key, int unlessThere)
    {
        if (!Has(key))
            return unlessThere;
        if (Value(key, JsonValueKind.Number, "a number").TryGetInt32(out var number) && number > 0)
            return number;

        throw Wrong(key, "a whole number from 1", element.GetProperty(key));
    }

    /// <summary><see langword="false"/> if it is not there.</summary>
    public bool Flag(string key) => element.TryGetProperty(key, out var value) && value.ValueKind switch
    {
        JsonValueKind.True => true,
        JsonValueKind.False => false,
        _ => throw Wrong(key, "true or false", value),
    };

    public IReadOnlyList<string> Texts(string key) => !Has(key) ? [] :
    [
        .. Value(key, JsonValueKind.Array, "a list of texts").EnumerateArray().Select(one => one.ValueKind is JsonValueKind.String
            ? one.GetString()!
            : throw Wrong(key, "a list of texts", one)),
    ];

    public IReadOnlyList<int> Numbers(string key) => !Has(key) ? [] :
    [
        .. Value(key, JsonValueKind.Array, "a list of whole numbers").EnumerateArray()
            .Select(one => one.ValueKind is JsonValueKind.Number && one.TryGetInt32(out var number)
                ? number
                : throw Wrong(key, "a list of whole numbers", one)),
    ];

    /// <summary>An object whose keys are the user's.</summary>
    public IReadOnlyDictionary<string, string> Named(string key) => !Has(key)
        ? new Dictionary<string, string>()
        : Value(key, JsonValueKind.Object, "an object with texts").EnumerateObject().GroupBy(property => property.Name).ToDictionary(
            named => named.Key,
            named => named.Count() > 1 ? throw Wrong($"{key}.{named.Key}", "it once", named.Last().Value)
                : named.First().Value.ValueKind is JsonValueKind.String ? named.First().Value.GetString()!
                : throw Wrong($"{key}.{named.Key}", "a text", named.First().Value));

    /// <summary>An object whose keys are the user's, each with a text or a list of texts.</summary>
    public IEnumerable<(string Name, string Text)> Lists(string key)
    {
        if (!Has(key))
            yield break;
        foreach (var property in Value(key, JsonValueKind.Object, "an object with lists of texts").EnumerateObject())
        {
            foreach (var one in property.Value.ValueKind is JsonValueKind.Array ? [.. property.Value.EnumerateArray()] : new[] { property.Value })
            {
                yield return one.ValueKind is JsonValueKind.String
                    ? (property.Name, one.GetString()!)
                    : throw Wrong($"{key}.{property.Name}", "a text or a list of texts", one);
            }
        }
    }

    public JsonKeys Object(string key, params IReadOnlyList<string> itsKeys) =>
        new(Value(key, JsonValueKind.Object, "an object in braces"), file, PlaceOf(key), itsKeys);

    public IReadOnlyList<JsonKeys> Objects(string key, params IReadOnlyList<string> itsKeys) => !Has(key) ? [] :
    [
        .. Value(key, JsonValueKind.Array, "a list of objects").EnumerateArray()
            .Select((one, at) => new JsonKeys(one, file, $"{PlaceOf(key)}[{at}]", itsKeys)),
    ];

    public bool IsText(string key) => element.TryGetProperty(key, out var value) && value.ValueKind is JsonValueKind.String;

    /// <summary>An error in this object.</summary>
    public KitException Error(string what, string remedy) => new($"{file}: {what}.", remedy) { IsUsage = true };

    /// <summary>The place of a key, as a reader looks for it.</summary>
    public string PlaceOf(string key) => (place.Length, key.Length) switch
    {
        (0, _) => key,
        (_, 0) => place,
        _ => $"{place}.{key}",
    };

    /// <summary>The page with all keys.</summary>
    public const string Documentation = "docs/reference/commands.md";

    private JsonElement Value(string key, JsonValueKind kind, string expected)
    {
        if (!element.TryGetProperty(key, out var value))
            throw Error($"the key '{key}' is missing{In(place)}", $"Keys{In(place)}: {string.Join(", ", keys)}. What each means: {Documentation}.");

        return value.ValueKind == kind ? value : throw Wrong(key, expected, value);
    }

    private KitException Wrong(string key, string expected, JsonElement found) =>
        Error($"{(PlaceOf(key) is { Length: > 0 } where ? $"'{where}': " : "")}expected {expected}, found {Shown(key, found)}", $"See {Documentation}.");

    private static string Shown(string key, JsonElement found) => Passwords.AreNamed(key) ? "another kind of value, which is not shown" : found.GetRawText();

    private static string In(string place) => place.Length == 0 ? "" : $" in '{place}'";
}
