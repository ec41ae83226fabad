using System.Collections.ObjectModel;
using System.Text.Json;

namespace Kit.Endpoints.Bare;

/// <summary>The headers of a message. A table stores them as one JSON object, or as nothing if there are none.</summary>
internal static class MessageHeaders
{
    /// <summary>The prefix of the kit's own headers, in which some queues keep their bookkeeping.</summary>
    public const string Reserved = "kit-";

    public static IReadOnlyDictionary<string, string> None => ReadOnlyDictionary<string, string>.Empty;

    /// <summary>
    /// The most characters that the names and values of one message's headers may have in total. RabbitMQ closes the connection if they exceed
    /// one frame (128 KiB).
    /// </summary>
    private const int Most = 16_384;

    // Headers that a broker adds when it moves a message (https://www.rabbitmq.com/docs/dlx#effects), and headers that route copies of it
    // (https://www.rabbitmq.com/docs/sender-selected).
    private static readonly string[] Taken = [Reserved, "x-death", "x-first-death-", "x-last-death-"];
    private static readonly string[] Routing = ["CC", "BCC"];

    /// <summary>Whether endpoints or brokers use that name for their bookkeeping.</summary>
    public static bool IsTaken(string name) => Array.Exists(Taken, taken => name.StartsWith(taken, StringComparison.Ordinal));

    /// <summary>The queue that a reply goes to; <see langword="null"/>: they name none.</summary>
    public static string? ReplyToIn(IReadOnlyDictionary<string, string> headers) =>
        headers.GetValueOrDefault(OutgoingMessage.ReplyToHeader) is { Length: > 0 } queue ? queue : null;

    /// <exception cref="ArgumentException">A name is empty or reserved, a value is null, or they are too long.</exception>
    public static IReadOnlyDictionary<string, string> Required(IReadOnlyDictionary<string, string> headers)
    {
        ArgumentNullException.ThrowIfNull(headers);
        foreach (var (name, value) in headers)
        {
            if (name.Length == 0 || IsTaken(name) || Routing.Contains(name, StringComparer.Ordinal))
            {
                throw new ArgumentException(
                    $"A header cannot be named '{name}': endpoints and brokers use {string.Join(", ", Routing)} and names that begin with " +
                    $"{string.Join(", ", Taken)}.",
                    nameof(headers));
            }

            ShortName.Require(name, "A header's name");
            if (value is null)
                throw new ArgumentException($"The header '{name}' has no value. Leave it out, or give it an empty one.", nameof(headers));
        }

        if (ReplyToIn(headers) is { } queue)
            ShortName.Require(queue, "The name of the queue for a reply");

        var length = headers.Sum(header => header.Key.Length + header.Value.Length);
        return length <= Most
            ? headers
            : throw new ArgumentException(
                $"The headers have {length} characters; at most {Most} are allowed. Put long values into the message's body.", nameof(headers));
    }

    /// <returns><see langword="null"/> if there are none.</returns>
    public static string? Write(IReadOnlyDictionary<string, string> headers) => headers.Count == 0 ? null : JsonSerializer.Serialize(headers);

    /// <param name="stored">What <see cref="Write"/> returned.</param>
    /// <returns>No headers if the text is something else: bad headers must not keep a message from being handled.</returns>
    public static IReadOnlyDictionary<string, string> Read(string? stored)
    {
        if (stored is null)
            return None;

        try
        {
            // Another sender's numbers are kept as text, so that one of them does not discard the other headers.
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
