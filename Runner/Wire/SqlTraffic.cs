using System.Buffers.Binary;

namespace Kit.Runner.Wire;

/// <summary>The requests of PostgreSQL's clients so far, over all connections of a proxy.</summary>
/// <param name="Statements">Statements that the server completed (<c>CommandComplete</c>), several of which can be sent at once.</param>
/// <param name="RoundTrips">Times that a client sent something after it had got an answer.</param>
/// <param name="IsEncrypted">True if a connection was encrypted, so that its statements were not counted.</param>
internal sealed record SqlCount(long Statements, long RoundTrips, bool IsEncrypted)
{
    public static SqlCount operator -(SqlCount after, SqlCount before) => after with
    {
        Statements = after.Statements - before.Statements,
        RoundTrips = after.RoundTrips - before.RoundTrips,
    };
}

/// <summary>
/// Counts statements and round trips in PostgreSQL's protocol (version 3, "Message Formats" in its documentation): it reads the type and the length of
/// each message, and nothing else.
/// </summary>
internal sealed class SqlTraffic
{
    private long statements;
    private long roundTrips;
    private volatile bool isEncrypted;

    public SqlCount Count => new(Interlocked.Read(ref statements), Interlocked.Read(ref roundTrips), isEncrypted);

    /// <summary>A watch on one more connection.</summary>
    public IConnectionWatch Watch() => new Connection(this);

    private sealed class Connection(SqlTraffic total) : IConnectionWatch
    {
        private const int HeaderLength = 5;
        private const int RequestLength = 8;
        private const int SslRequest = 80_877_103;
        private const int GssEncRequest = 80_877_104;
        private const byte TlsHandshake = 0x16;
        private const byte CommandComplete = (byte)'C';
        private const byte Refused = (byte)'N';

        private readonly Lock looking = new();
        private readonly byte[] request = new byte[RequestLength];
        private readonly byte[] header = new byte[HeaderLength];
        private int inRequest;
        private int inHeader;
        private long toSkip;
        private int openQuestions;
        private bool hasStarted;
        private bool isEncrypted;
        private Traffic? last;

        public void See(Traffic direction, ReadOnlySpan<byte> piece)
        {
            lock (looking)
            {
                if (direction is Traffic.ToServer && last is not Traffic.ToServer)
                    Interlocked.Increment(ref total.roundTrips);
                last = direction;
                if (isEncrypted)
                    return;
                if (direction is Traffic.ToServer)
                    SeeRequests(piece);
                else
                    SeeAnswers(piece);
            }
        }

        // Only the beginning matters: each question for encryption is answered by one byte, which is no message.
        private void SeeRequests(ReadOnlySpan<byte> piece)
        {
            foreach (var one in piece)
            {
                if (hasStarted)
                    return;
                // Some clients encrypt without asking.
                if (inRequest == 0 && openQuestions == 0 && one == TlsHandshake)
                {
                    total.isEncrypted = isEncrypted = hasStarted = true;
                    return;
                }

                request[inRequest++] = one;
                if (inRequest < RequestLength)
                    continue;
                inRequest = 0;
                if (BinaryPrimitives.ReadInt32BigEndian(request.AsSpan(4)) is SslRequest or GssEncRequest)
                    openQuestions++;
                else
                    hasStarted = true;
            }
        }

        private void SeeAnswers(ReadOnlySpan<byte> piece)
        {
            while (!piece.IsEmpty && !isEncrypted)
            {
                if (openQuestions > 0)
                {
                    openQuestions--;
                    isEncrypted = piece[0] != Refused;
                    total.isEncrypted |= isEncrypted;
                    piece = piece[1..];
                }
                else if (toSkip > 0)
                {
                    var skipped = (int)Math.Min(toSkip, piece.Length);
                    toSkip -= skipped;
                    piece = piece[skipped..];
                }
                else
                {
                    header[inHeader++] = piece[0];
                    piece = piece[1..];
                    if (inHeader == HeaderLength)
                        SeeMessage();
                }
            }
        }

        private void SeeMessage()
        {
            inHeader = 0;
            // The length includes itself.
            toSkip = BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(1)) - sizeof(int);
            if (header[0] == CommandComplete)
                Interlocked.Increment(ref total.statements);
        }
    }
}
