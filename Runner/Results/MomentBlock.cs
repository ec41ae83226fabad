using System.Buffers.Binary;
using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;

namespace Kit.Runner.Results;

/// <summary>The commits of one attempt at a round, as stored in <c>moments.bin</c>. <c>results/recompute.cs</c> describes each byte.</summary>
/// <param name="Round">From 1.</param>
/// <param name="Attempt">From 1.</param>
/// <param name="Microseconds">From the first handler entry to each commit, ascending.</param>
internal sealed record MomentBlock(string Cell, int Round, int Attempt, IReadOnlyList<long> Microseconds)
{
    /// <summary>Magic, version and the length of the body.</summary>
    public const int HeaderLength = 9;

    public const int ChecksumLength = 8;

    private const byte Version = 1;
    private const int MostPlanes = 8;
    private const int BestQuality = 11;
    private const int LargestWindow = 24;

    // More moments than any run has: a damaged count must not allocate all memory.
    private const int MostMoments = 5_000_000;

    // Ten days in microseconds.
    private const long Longest = 864_000_000_000;

    private static ReadOnlySpan<byte> Magic => "KMOM"u8;

    public static MomentBlock Of(RoundDocument round) => new(round.Cell.ToString(), round.Round, round.Attempt, round.Throughput.Microseconds);

    public byte[] ToBytes()
    {
        var name = Encoding.UTF8.GetBytes(Cell);
        var (planes, count) = PlanesOf(Microseconds);
        var compressed = new byte[BrotliEncoder.GetMaxCompressedLength(planes.Length)];
        if (!BrotliEncoder.TryCompress(planes, compressed, out var compressedLength, BestQuality, LargestWindow))
            throw new InvalidOperationException("Brotli needs more space than its own upper bound.");

        using var bytes = new MemoryStream();
        using var writer = new BinaryWriter(bytes);
        writer.Write(Magic);
        writer.Write(Version);
        writer.Write(sizeof(ushort) + name.Length + (3 * sizeof(int)) + sizeof(byte) + compressedLength);
        writer.Write(checked((ushort)name.Length));
        writer.Write(name);
        writer.Write(Round);
        writer.Write(Attempt);
        writer.Write(Microseconds.Count);
        writer.Write((byte)count);
        writer.Write(compressed, 0, compressedLength);
        writer.Write(ChecksumOf(bytes.ToArray()));
        return bytes.ToArray();
    }

    /// <summary>The length of the block that begins here.</summary>
    /// <param name="bytes">At least <see cref="HeaderLength"/>.</param>
    /// <exception cref="InvalidDataException">No block begins here, or one of another version.</exception>
    public static long LengthOf(ReadOnlySpan<byte> bytes)
    {
        if (!bytes[..Magic.Length].SequenceEqual(Magic))
            throw new InvalidDataException("no block begins there");
        if (bytes[Magic.Length] is not Version)
            throw new InvalidDataException($"the block is of version {bytes[Magic.Length]}, and this kit reads version {Version}");
        return HeaderLength + (long)BinaryPrimitives.ReadUInt32LittleEndian(bytes[(Magic.Length + 1)..]) + ChecksumLength;
    }

    /// <param name="block">With the length of <see cref="LengthOf"/>.</param>
    /// <exception cref="InvalidDataException">It is damaged.</exception>
    public static MomentBlock Read(byte[] block)
    {
        if (!ChecksumOf(block.AsSpan(..^ChecksumLength)).SequenceEqual(block.AsSpan(^ChecksumLength..)))
            throw new InvalidDataException("the block's checksum is wrong");

        using var stream = new MemoryStream(block, HeaderLength, block.Length - HeaderLength - ChecksumLength);
        using var reader = new BinaryReader(stream);
        try
        {
            var cell = Encoding.UTF8.GetString(reader.ReadBytes(reader.ReadUInt16()));
            var (round, attempt, count, planes) = (reader.ReadInt32(), reader.ReadInt32(), reader.ReadInt32(), reader.ReadByte());
            return new MomentBlock(cell, round, attempt, MomentsOf(reader.ReadBytes(block.Length), count, planes));
        }
        catch (EndOfStreamException failure)
        {
            throw new InvalidDataException("the block ends too early", failure);
        }
    }

    // Deltas are small, and their upper bytes almost always equal: separated from the lower bytes, they compress to almost nothing.
    private static (byte[] Planes, int Count) PlanesOf(IReadOnlyList<long> moments)
    {
        var deltas = moments.Select((moment, index) => moment - (index == 0 ? 0 : moments[index - 1])).ToList();
        var count = 0;
        while (count < MostPlanes && deltas.Exists(delta => delta >> (8 * count) != 0))
            count++;
        return ([.. Enumerable.Range(0, count).SelectMany(plane => deltas.Select(delta => (byte)(delta >> (8 * plane))))], count);
    }

    private static long[] MomentsOf(byte[] compressed, int count, byte planes)
    {
        if (count is < 0 or > MostMoments)
            throw new InvalidDataException($"the block claims {count} moments, and no run has more than {MostMoments}");
        if (planes > MostPlanes)
            throw new InvalidDataException($"the block claims {planes} bytes for a moment, and none has more than {MostPlanes}");
        var bytes = new byte[count * planes];
        if (!BrotliDecoder.TryDecompress(compressed, bytes, out var length) || length != bytes.Length)
            throw new InvalidDataException("the block does not contain as many moments as it claims");

        var moments = new long[count];
        var before = 0L;
        for (var index = 0; index < count; index++)
        {
            var delta = 0L;
            for (var plane = 0; plane < planes; plane++)
                delta += (long)bytes[(plane * count) + index] << (8 * plane);
            // A negative delta and an overflowed sum are both less than the previous moment.
            if (before + delta < before)
                throw new InvalidDataException("the block's moments are not ascending");
            moments[index] = before += delta;
            if (before > Longest)
                throw new InvalidDataException("the block has a moment later than ten days after its round began");
        }

        return moments;
    }

    private static Span<byte> ChecksumOf(ReadOnlySpan<byte> bytes) => SHA256.HashData(bytes).AsSpan(..ChecksumLength);
}
