using System.Collections.ObjectModel;
using System.Text.Json;

namespace Kit.Endpoints.Bare;

/// <summary>The headers of a message, and how they lie in a table: as one JSON object, or nothing at all where there are none.</summary>
internal static class MessageHeaders
{
    /// <summary>What the kit's own names begin with, where a queue keeps its bookkeeping in headers.</summary>
    public const string Reserved = "kit-";

    public static IReadOnlyDictionary<string, string> None => ReadOnlyDictionary<string, string>.Empty;

    /// <summary>
    /// The names and values of one message's headers have at most this many characters together. RabbitMQ closes a connection when they exceed one
    /// frame (128 KiB).
    /// </summary>
    private const int Most = 16_384;

    // What a broker itself adds where it moves a message (https://www.rabbitmq.com/docs/dlx#effects), and what routes copies of it
    // (https://www.rabbitmq.com/docs/sender-selected).
    private static readonly string[] Taken = [Reserved, "x-death", "x-first-death-", "x-last-death-"];
    private static readonly string[] Routing = ["CC", "BCC"];

    /// <summary>Whether an endpoint or a broker keeps its bookkeeping under such a name.</summary>
    public static bool IsTaken(string name) => Array.Exists(Taken, taken => name.StartsWith(taken, StringComparison.Ordinal));

    /// <exception cref="ArgumentException">A name is empty or reserved, a value is null, or they are too long.</exception>
    public static IReadOnlyDictionary<string, string> Required(IReadOnlyDictionary<string, string> headers)
    {
        ArgumentNullException.ThrowIfNull(headers);
        foreach (var (name, value) in headers)
        {
            if (name.Length == 0 || IsTaken(name) || Routing.Contains(name, StringComparer.Ordinal))
            {
                throw new ArgumentException(
                    $"A header cannot be named '{name}': {string.Join(", ", Routing)} and names that begin with {string.Join(", ", Taken)} have a meaning of " +
                    "their own for endpoints and brokers.",
                    nameof(headers));
            }

            ShortName.Require(name, "A header's name");
            if (value is null)
                throw new ArgumentException($"The header '{name}' has no value. Leave it out, or give it an empty one.", nameof(headers));
        }

        var length = headers.Sum(header => header.Key.Length + header.Value.Length);
        return length <= Most
            ? headers
            : throw new ArgumentException(
                $"The headers have {length} characters; at most {Most} are allowed. Put long values into the message's body.", nameof(headers));
    }

    /// <returns><see langword="null"/> where there are none.</returns>
    public static string? Write(IReadOnlyDictionary<string, string> headers) => headers.Count == 0 ? null : JsonSerializer.Serialize(headers);

    /// <param name="stored">As <see cref="Write"/> gave it.</param>
    /// <returns>None where somebody wrote something else there: headers are no reason not to handle a message.</returns>
    public static IReadOnlyDictionary<string, string> Read(string? stored)
    {
        if (stored is null)
            return None;

        try
        {
            // Somebody else's numbers are kept as text: one of them must not take the other headers with it.
            using var read = JsonDocument.Parse(stored);
            return read.RootElement.EnumerateObject().Where(header => header.Value.ValueKind is not JsonValueKind.Null)
                .ToDictionary(header => header.Name, header => header.Value.ToString(), StringComparer.Ordinal);
        }
        catch (Exception other) when (other is JsonException or InvalidOperationException or ArgumentException)
        {
            return None;
        }
    }
}
