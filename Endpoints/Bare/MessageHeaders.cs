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

    // The broker writes the history of a dead letter, and reads it: it drops a message that goes in a circle (https://www.rabbitmq.com/docs/dlx).
    private static readonly string[] TakenBeginnings = [Reserved, "x-death", "x-first-death-", "x-last-death-"];

    // Instructions for one publish: to whom copies go (https://www.rabbitmq.com/docs/sender-selected), and when an exchange of the plugin for delays passes it
    // on. Then what a queue counts (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling), and what RabbitMQ.Client counts.
    private static readonly string[] TakenNames = ["CC", "BCC", "x-delay", "x-delivery-count", "x-acquired-count", "x-dotnet-pub-seq-no"];

    /// <summary>
    /// Whether a header with that name is bookkeeping of endpoints, brokers or drivers, or an instruction to a broker. It is then no part of a message: no
    /// sender may set it, no handler sees it, and it does not go along when a message is moved.
    /// </summary>
    public static bool IsTaken(string name) =>
        TakenNames.Contains(name, StringComparer.Ordinal) || Array.Exists(TakenBeginnings, taken => name.StartsWith(taken, StringComparison.Ordinal));

    /// <summary>The queue that a reply goes to; <see langword="null"/>: they name none.</summary>
    public static string? ReplyToIn(IReadOnlyDictionary<string, string> headers) =>
        headers.GetValueOrDefault(OutgoingMessage.ReplyToHeader) is { Length: > 0 } queue ? queue : null;

    /// <exception cref="ArgumentException">A name is empty or reserved, a value is null, or they are too long.</exception>
    public static IReadOnlyDictionary<string, string> Required(IReadOnlyDictionary<string, string> headers)
    {
        ArgumentNullException.ThrowIfNull(headers);
        foreach (var (name, value) in headers)
        {
            if (name.Length == 0 || IsTaken(name))
            {
                throw new ArgumentException(
                    $"A header cannot be named '{name}': endpoints and brokers use {string.Join(", ", TakenNames)} and names that begin with " +
                    $"{string.Join(", ", TakenBeginnings)}.",
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
            return read.RootElement.EnumerateObject().Where(header => header.Value.ValueKind is not JsonValueKind.Null && !IsTaken(header.Name))
                .ToDictionary(header => header.Name, header => header.Value.ToString(), StringComparer.Ordinal);
        }
        catch (Exception other) when (other is JsonException or InvalidOperationException or ArgumentException)
        {
            return None;
        }
    }
}
