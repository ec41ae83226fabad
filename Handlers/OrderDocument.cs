using System.Collections.Concurrent;

namespace Kit.Handlers;

/// <summary>The document of the scenarios that read or forward one: an order in XML.</summary>
public static class OrderDocument
{
    /// <summary>The region of about half of the orders.</summary>
    public const string North = "north";

    /// <summary>The region of the others.</summary>
    public const string South = "south";

    // Messages of one region and size share their text: a round of large messages has thousands of them in memory.
    private static readonly ConcurrentDictionary<(string Region, int Length), string> Written = new();

    /// <summary>The order in a message. Those of one region and length are alike.</summary>
    /// <param name="messageId">The message. Its id decides the region.</param>
    /// <param name="length">How many characters it has; <see langword="null"/>: those that it needs, about 500.</param>
    public static string Of(Guid messageId, int? length) => Written.GetOrAdd((RegionOf(messageId), length ?? 0), Write);

    /// <summary>The region of a message's order.</summary>
    public static string RegionOf(Guid messageId) => messageId.ToByteArray()[^1] % 2 == 0 ? North : South;

    /// <summary>The document of a message.</summary>
    /// <exception cref="InvalidOperationException">It has none.</exception>
    public static string In(BuildWidget message) => message.Document ?? throw new InvalidOperationException(
        $"Expected a document in message {message.MessageId}, and it has none. Send messages that the scenario makes.");

    private static string Write((string Region, int Length) order)
    {
        const string end = "</note></order>";
        var begin =
            $"<order number=\"4711\" region=\"{order.Region}\">" +
            "<customer><name>Ada Lovelace</name><street>12 Saint James Square</street><city>London</city>" +
            "<country>United Kingdom</country><phone>+44 20 7946 0000</phone></customer><lines>" +
            "<line sku=\"A-1004\" quantity=\"2\">Hexagon nut, steel, M8</line>" +
            "<line sku=\"A-1001\" quantity=\"12\">Hexagon bolt, steel, M8</line>" +
            "<line sku=\"A-1003\" quantity=\"4\">Washer &amp; spring, M8</line>" +
            "<line sku=\"A-1002\" quantity=\"1\">Torque wrench</line>" +
            "</lines><note>Ring twice. ";
        return begin + RandomLetters.Of(Math.Max(0, order.Length - begin.Length - end.Length)) + end;
    }
}
