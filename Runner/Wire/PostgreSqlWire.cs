using System.Buffers.Binary;
using System.Text;

namespace Kit.Runner.Wire;

/// <summary>
/// PostgreSQL's protocol, version 3 ("Message Formats" in its documentation). A request is a simple query, an execution of a prepared statement with
/// the frames before it, or the start of the connection with its authentication. The proxy itself refuses encryption.
/// </summary>
/// <remarks>A client that encrypts without asking is not read: nothing is a request, and everything passes.</remarks>
internal sealed class PostgreSqlWire : IWireProtocol
{
    private const int SslRequest = 80_877_103;
    private const int GssEncRequest = 80_877_104;
    private const int CancelRequest = 80_877_102;
    private const int StartLength = 8;
    private const int HeaderLength = 5;
    private const int AuthenticationOk = 0;
    private const int AuthenticationSaslFinal = 12;
    private const byte TlsHandshake = 0x16;

    private static readonly byte[] Refusal = [(byte)'N'];
    private static readonly byte[] Flush = [(byte)'H', 0, 0, 0, 4];

    private readonly FrameBuffer client = new();
    private readonly FrameBuffer server = new();
    private readonly PreparedTexts texts = new();
    private readonly List<byte> gathered = [];
    private readonly PostgreSqlAnswers answers = new();
    private bool hasStarted;
    private bool isOpaque;
    private bool wantsEncryption;
    private bool isCopying;
    private bool isParsing;

    public bool IsSettled => answers.IsSettled;

    public bool IsUnreadable => isOpaque || wantsEncryption;

    public int? OpenTransaction => answers.OpenTransaction;

    public int Sessions => 1;

    public byte[] Probe() => answers.AwaitsSync ? Flush : [];

    public IReadOnlyList<ClientUnit> FromClient(ReadOnlySpan<byte> piece)
    {
        var units = new List<ClientUnit>();
        client.Add(piece);
        while (!isOpaque && TakeClientFrame() is { } frame)
            See(frame, units);
        if (isOpaque && client.Take(client.Waiting.Length) is { Length: > 0 } rest)
            units.Add(new ClientUnit(rest));
        return units;
    }

    public IReadOnlyList<ServerFrame> FromServer(ReadOnlySpan<byte> piece)
    {
        var frames = new List<ServerFrame>();
        server.Add(piece);
        while (!isOpaque && TakeFrame(server) is { } frame)
        {
            var of = answers.Next;
            frames.Add(new ServerFrame(frame, of, answers.See(frame[0], frame.AsSpan(HeaderLength))) { IsQuestion = IsQuestion(frame) });
        }

        if (isOpaque && server.Take(server.Waiting.Length) is { Length: > 0 } rest)
            frames.Add(new ServerFrame(rest, Of: null, []));
        return frames;
    }

    // Of the frames of an authentication, only the last two need no answer.
    private static bool IsQuestion(byte[] frame) =>
        frame is [(byte)'R', ..] && BinaryPrimitives.ReadInt32BigEndian(frame.AsSpan(HeaderLength)) is not (AuthenticationOk or AuthenticationSaslFinal);

    private byte[]? TakeClientFrame()
    {
        if (hasStarted)
            return TakeFrame(client);

        isOpaque = client.Waiting is [TlsHandshake, ..];
        return isOpaque || client.Waiting.Length < StartLength ? null : client.Take(BinaryPrimitives.ReadInt32BigEndian(client.Waiting));
    }

    private static byte[]? TakeFrame(FrameBuffer from) =>
        from.Waiting.Length < HeaderLength ? null : from.Take(1 + BinaryPrimitives.ReadInt32BigEndian(from.Waiting[1..]));

    private void See(byte[] frame, List<ClientUnit> units)
    {
        if (!hasStarted)
        {
            units.Add(Start(frame));
            return;
        }

        var body = frame.AsSpan(HeaderLength);
        gathered.AddRange(frame);
        // A client whose COPY was refused need not end its data.
        isCopying &= (char)frame[0] is not ('Q' or 'F' or 'E');
        switch ((char)frame[0])
        {
            case 'Q':
                units.Add(Ask(TextIn(body), PostgreSqlEnd.Ready));
                break;
            case 'F':
                units.Add(Ask("function call", PostgreSqlEnd.Ready));
                break;
            case 'E':
                units.Add(Ask(texts.OfPortal(TextIn(body)), PostgreSqlEnd.Command));
                break;
            case 'S':
                units.Add(Sync());
                break;
            case 'd' when answers.IsStreaming:
            case 'd' or 'c' or 'f' when answers.DropsData:
                units.Add(Rest());
                break;
            case 'd' when !isCopying:
                isCopying = true;
                units.Add(Ask($"data of {answers.Copied}", answers.EndOfCopy));
                break;
            case 'c' or 'f' when !isCopying:
                units.Add(Ask($"end of {answers.Copied}", answers.EndOfCopy));
                break;
            case 'X':
                units.Add(Ask("terminate", PostgreSqlEnd.None));
                break;
            case 'P':
                isParsing = true;
                texts.Parse(body);
                break;
            case 'B':
                texts.Bind(body);
                break;
            case 'D' or 'C':
                break;
            default:
                isCopying &= frame[0] is not ((byte)'c' or (byte)'f');
                units.Add(Rest());
                break;
        }
    }

    private ClientUnit Start(byte[] frame)
    {
        var code = BinaryPrimitives.ReadInt32BigEndian(frame.AsSpan(sizeof(int)));
        wantsEncryption = code is SslRequest or GssEncRequest;
        if (wantsEncryption)
            return new ClientUnit([]) { AnsweredWith = Refusal };
        gathered.AddRange(frame);
        if (code is CancelRequest)
            return Ask("cancel request", PostgreSqlEnd.None);

        hasStarted = true;
        return Ask("connect", PostgreSqlEnd.Ready);
    }

    // Alone after an execution it ends that one. With a statement that is only prepared, described or closed, it is a request of its own.
    private ClientUnit Sync() => gathered.Count == HeaderLength
        ? Rest() with { Sent = answers.EndWithSync }
        : Ask(isParsing ? $"prepare {texts.Last}" : "describe or close", PostgreSqlEnd.Ready);

    private ClientUnit Ask(string text, PostgreSqlEnd end)
    {
        var unit = Rest();
        var request = new WireRequest(text, hasAnswer: end is not PostgreSqlEnd.None) { Frames = unit.Bytes };
        return unit with { Request = request, Sent = () => answers.Await(request, end) };
    }

    private ClientUnit Rest()
    {
        var unit = new ClientUnit([.. gathered]);
        isParsing = false;
        gathered.Clear();
        return unit;
    }

    private static string TextIn(ReadOnlySpan<byte> body) => PreparedTexts.TextIn(ref body);

    /// <summary>The texts of a connection's prepared statements and portals, by name.</summary>
    private sealed class PreparedTexts
    {
        private readonly Dictionary<string, string> statements = new(StringComparer.Ordinal);
        private readonly Dictionary<string, string> portals = new(StringComparer.Ordinal);

        /// <summary>The text that was prepared last.</summary>
        public string Last { get; private set; } = "";

        public void Parse(ReadOnlySpan<byte> body)
        {
            var name = TextIn(ref body);
            statements[name] = Last = TextIn(ref body);
        }

        public void Bind(ReadOnlySpan<byte> body)
        {
            var portal = TextIn(ref body);
            portals[portal] = statements.GetValueOrDefault(TextIn(ref body), "a statement of another connection");
        }

        public string OfPortal(string name) => portals.GetValueOrDefault(name, $"portal {name}");

        public static string TextIn(ref ReadOnlySpan<byte> body)
        {
            var end = body.IndexOf((byte)0);
            var text = Encoding.UTF8.GetString(end < 0 ? body : body[..end]);
            body = end < 0 ? [] : body[(end + 1)..];
            return text;
        }
    }
}
