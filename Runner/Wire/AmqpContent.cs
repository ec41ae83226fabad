using System.Buffers.Binary;

namespace Kit.Runner.Wire;

/// <summary>A method whose content is still coming: a header with the size of the body, then the body in any number of frames.</summary>
internal sealed class AmqpContent(AmqpMethod method, byte[] frame)
{
    private const int FrameOverhead = 8;
    private const int SizeAt = 11;

    private readonly List<byte> bytes = [.. frame];
    private long left;

    public AmqpMethod Method => method;

    public byte[] Bytes => [.. bytes];

    /// <summary>Adds a frame. True if the content is complete.</summary>
    public bool Add(byte[] next, bool isHeader)
    {
        bytes.AddRange(next);
        left = isHeader ? BinaryPrimitives.ReadInt64BigEndian(next.AsSpan(SizeAt)) : left - (next.Length - FrameOverhead);
        return left <= 0;
    }
}
