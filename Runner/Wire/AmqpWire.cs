using System.Buffers.Binary;

namespace Kit.Runner.Wire;

/// <summary>
/// AMQP 0-9-1 as RabbitMQ speaks it. A request is a method of the client, with its destination and content; the start of the connection is one request.
/// Heartbeats are none. A method that the server does not answer is proved by a <c>channel.flow</c> that the proxy sends after it on the same channel: a server
/// acts on a channel's methods one after another.
/// </summary>
internal sealed class AmqpWire : IWireProtocol
{
    private const int ProtocolLength = 8;
    private const int HeaderLength = 7;
    private const byte MethodFrame = 1;
    private const byte ContentHeader = 2;
    private const byte ContentBody = 3;
    private const byte FrameEnd = 0xCE;

    private readonly FrameBuffer client = new();
    private readonly FrameBuffer server = new();
    private readonly Dictionary<int, AmqpChannel> channels = [];
    private readonly Dictionary<int, AmqpContent> sending = [];
    private readonly Dictionary<int, AmqpContent> receiving = [];
    private WireRequest? start;
    private bool isOpaque;
    // The start of the connection is number 0.
    private int requests = 1;

    public bool IsSettled => start is null or { IsAnswered: true } && channels.Values.All(channel => channel.IsSettled);

    public bool IsUnreadable => isOpaque;

    /// <inheritdoc/>
    /// <remarks>Each request is a transaction of its own.</remarks>
    public int? OpenTransaction => null;

    public int Sessions => Math.Max(1, channels.Values.Count(channel => channel.IsOpen));

    public byte[] Probe() => [.. channels.Where(channel => channel.Value.NeedsProof).SelectMany(channel => FlowOn((ushort)channel.Key))];

    public IReadOnlyList<ClientUnit> FromClient(ReadOnlySpan<byte> piece)
    {
        var units = new List<ClientUnit>();
        client.Add(piece);
        if (start is null && !isOpaque && client.Waiting.Length >= ProtocolLength)
        {
            isOpaque = !client.Waiting.StartsWith("AMQP"u8);
            if (!isOpaque)
                units.Add(new ClientUnit(client.Take(ProtocolLength)!, start = new WireRequest("connect", hasAnswer: true)));
        }

        while (start is not null && TakeFrame(client) is { } frame)
        {
            if (SeeClient(frame) is { } unit)
                units.Add(unit);
        }

        if (isOpaque && client.Take(client.Waiting.Length) is { Length: > 0 } rest)
            units.Add(new ClientUnit(rest));
        return units;
    }

    public IReadOnlyList<ServerFrame> FromServer(ReadOnlySpan<byte> piece)
    {
        var frames = new List<ServerFrame>();
        server.Add(piece);
        // A server that does not speak the client's version answers with its own header, and closes.
        if (isOpaque || server.Waiting.StartsWith("AMQP"u8))
            return server.Take(server.Waiting.Length) is { Length: > 0 } rest ? [new ServerFrame(rest, Of: null, [])] : [];

        while (TakeFrame(server) is { } frame)
        {
            // The client does not get the answer to a question that it did not ask.
            byte[] passed = IsProof(frame) ? [] : frame;
            frames.Add(new ServerFrame(passed, Of: null, SeeServer(frame)) { IsQuestion = start is { IsAnswered: false } });
        }

        return frames;
    }

    private bool IsProof(byte[] frame) => frame[0] is MethodFrame && MethodOf(frame) is { IsReply: true } method && method.Asked == AmqpMethod.Flow
        && channels.TryGetValue(ChannelOf(frame), out var channel) && !channel.Awaits(AmqpMethod.Flow);

    private static byte[]? TakeFrame(FrameBuffer from) => from.Waiting.Length < HeaderLength
        ? null
        : from.Take(HeaderLength + BinaryPrimitives.ReadInt32BigEndian(from.Waiting[3..]) + 1);

    /// <summary>A whole request, or a frame outside requests; <see langword="null"/>: the rest of the request has not come.</summary>
    private ClientUnit? SeeClient(byte[] frame)
    {
        var channel = ChannelOf(frame);
        if (frame[0] is MethodFrame)
        {
            var method = MethodOf(frame);
            if (method.HasContent)
            {
                sending[channel] = new AmqpContent(method, frame);
                return null;
            }

            return Ask(channel, method, frame);
        }

        if (frame[0] is not (ContentHeader or ContentBody) || !sending.TryGetValue(channel, out var content))
            return new ClientUnit(frame);
        if (!content.Add(frame, isHeader: frame[0] is ContentHeader))
            return null;

        sending.Remove(channel);
        return Ask(channel, content.Method, content.Bytes);
    }

    private ClientUnit Ask(int number, AmqpMethod method, byte[] bytes)
    {
        // The rest of the connection's start, and answers to the server.
        if (start is { IsAnswered: false } || method.IsReply)
            return new ClientUnit(bytes);

        if (method == AmqpMethod.ChannelOpen || !channels.TryGetValue(number, out var channel))
            channel = channels[number] = new AmqpChannel();
        var isAnswered = method.IsSynchronous ? !method.WantsNoAnswer(ArgumentsIn(bytes)) : method == AmqpMethod.Publish && channel.Confirms;
        var request = new WireRequest(method.TextOf(ArgumentsIn(bytes)), isAnswered)
        {
            CanBeProved = true,
            Frames = bytes,
            Transaction = requests++,
        };
        return new ClientUnit(bytes, request) { Sent = () => channel.Await(method, request) };
    }

    private IReadOnlyList<WireRequest> SeeServer(byte[] frame)
    {
        var number = ChannelOf(frame);
        if (frame[0] is ContentHeader or ContentBody)
        {
            if (!receiving.TryGetValue(number, out var content) || !content.Add(frame, isHeader: frame[0] is ContentHeader))
                return [];

            receiving.Remove(number);
            return content.Method == AmqpMethod.GetOk ? Answer(number, content.Method, []) : [];
        }

        if (frame[0] is not MethodFrame)
            return [];

        var method = MethodOf(frame);
        if (method.HasContent)
        {
            receiving[number] = new AmqpContent(method, frame);
            return [];
        }

        if (start is { IsAnswered: false } && method.IsReply && method.Asked == AmqpMethod.ConnectionOpen)
        {
            (start.IsAnswered, start.Outcome) = (true, $"{method}");
            return [start];
        }

        return Answer(number, method, ArgumentsIn(frame));
    }

    private IReadOnlyList<WireRequest> Answer(int number, AmqpMethod method, ReadOnlySpan<byte> arguments)
    {
        if (method == AmqpMethod.ConnectionClose)
            return [.. channels.Values.SelectMany(each => each.Break($"{method}"))];

        return channels.TryGetValue(number, out var channel) ? channel.See(method, arguments) : [];
    }

    /// <param name="frame">A frame that begins with a method's numbers, and can have others behind it.</param>
    private static ReadOnlySpan<byte> ArgumentsIn(byte[] frame) => frame.AsSpan(HeaderLength + 4, BinaryPrimitives.ReadInt32BigEndian(frame.AsSpan(3)) - 4);

    private static int ChannelOf(byte[] frame) => BinaryPrimitives.ReadUInt16BigEndian(frame.AsSpan(1));

    private static AmqpMethod MethodOf(byte[] frame) =>
        new(BinaryPrimitives.ReadUInt16BigEndian(frame.AsSpan(HeaderLength)), BinaryPrimitives.ReadUInt16BigEndian(frame.AsSpan(HeaderLength + 2)));

    private static byte[] FlowOn(ushort channel)
    {
        byte[] frame = [MethodFrame, 0, 0, 0, 0, 0, 5, 0, (byte)AmqpMethod.Flow.Class, 0, (byte)AmqpMethod.Flow.Id, 1, FrameEnd];
        BinaryPrimitives.WriteUInt16BigEndian(frame.AsSpan(1), channel);
        return frame;
    }
}
