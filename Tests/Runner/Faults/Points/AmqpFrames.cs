using System.Buffers.Binary;

namespace Kit.Tests.Faults.Points;

/// <summary>Frames of AMQP 0-9-1, as both sides send them.</summary>
internal static class AmqpFrames
{
    public static byte[] Protocol { get; } = [.. "AMQP"u8, 0, 0, 9, 1];

    public static byte[] Heartbeat() => Frame(8, 0, []);

    public static byte[] Method(ushort channel, ushort method, ushort id, params byte[] arguments) =>
        Frame(1, channel, [(byte)(method >> 8), (byte)method, (byte)(id >> 8), (byte)id, .. arguments]);

    public static byte[] Publish(ushort channel, params byte[][] body) => Content(channel, 40, body);

    public static byte[] PublishTo(ushort channel, string exchange, string key) => Method(
        channel, 60, 40, [0, 0, (byte)exchange.Length, .. exchange.Select(one => (byte)one), (byte)key.Length, .. key.Select(one => (byte)one), 0]);

    public static byte[] Deliver(ushort channel, params byte[][] body) => Content(channel, 60, body);

    public static byte[] GetOk(ushort channel, params byte[][] body) => Content(channel, 71, body);

    /// <summary>A confirmation, or an acknowledgement.</summary>
    public static byte[] Ack(ushort channel, long tag, bool isMultiple = false) => Confirm(channel, 80, tag, isMultiple);

    /// <summary>A refusal.</summary>
    public static byte[] Nack(ushort channel, long tag, bool isMultiple = false) => Confirm(channel, 120, tag, isMultiple);

    private static byte[] Confirm(ushort channel, ushort id, long tag, bool isMultiple)
    {
        var arguments = new byte[9];
        BinaryPrimitives.WriteInt64BigEndian(arguments, tag);
        arguments[8] = isMultiple ? (byte)1 : (byte)0;
        return Method(channel, 60, id, arguments);
    }

    private static byte[] Content(ushort channel, ushort id, byte[][] body)
    {
        var header = new byte[14];
        BinaryPrimitives.WriteUInt16BigEndian(header, 60);
        BinaryPrimitives.WriteInt64BigEndian(header.AsSpan(4), body.Sum(piece => piece.Length));
        return [.. Method(channel, 60, id), .. Frame(2, channel, header), .. body.SelectMany(piece => Frame(3, channel, piece))];
    }

    private static byte[] Frame(byte type, ushort channel, byte[] payload)
    {
        byte[] frame = [type, (byte)(channel >> 8), (byte)channel, 0, 0, 0, 0, .. payload, 0xCE];
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(3), payload.Length);
        return frame;
    }
}
