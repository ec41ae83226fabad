namespace Kit.Runner.Results;

/// <summary><c>moments.bin</c>: blocks one after the other, in the order in which the rounds ended.</summary>
internal sealed class MomentsFile(string path)
{
    // Many moments compress to a small file, so the memory for a file is limited.
    private const long MostMoments = 20_000_000;

    /// <exception cref="KitException">The block cannot be appended; the existing content is untouched.</exception>
    public void Append(MomentBlock block) => AppendedFile.Append(path, block.ToBytes(), stream => stream.Length);

    /// <summary>The blocks up to the end of the file, or up to the first incomplete or damaged one.</summary>
    /// <returns>The blocks, and the error after them with its place; <see langword="null"/> if there is none.</returns>
    /// <exception cref="KitException">The file may not be read.</exception>
    public (IReadOnlyList<MomentBlock> Blocks, string? Wrong) Read()
    {
        var blocks = new List<MomentBlock>();
        var bytes = File.Exists(path) ? StoredFile.Bytes(path) : [];
        var (at, moments) = (0, 0L);
        while (at < bytes.Length)
        {
            try
            {
                var block = BlockAt(bytes.AsSpan(at..));
                blocks.Add(MomentBlock.Read(block));
                moments += blocks[^1].Microseconds.Count;
                if (moments > MostMoments)
                    throw new InvalidDataException($"there are more than {MostMoments} moments, and no run has that many");
                at += block.Length;
            }
            catch (InvalidDataException failure)
            {
                return (blocks, $"at byte {Figures.Plain(at)} {failure.Message}");
            }
        }

        return (blocks, null);
    }

    private static byte[] BlockAt(ReadOnlySpan<byte> rest)
    {
        const string cut = "the file ends in the middle of a block";
        if (rest.Length < MomentBlock.HeaderLength)
            throw new InvalidDataException(cut);
        var length = MomentBlock.LengthOf(rest);
        return length <= rest.Length ? rest[..(int)length].ToArray() : throw new InvalidDataException(cut);
    }
}
