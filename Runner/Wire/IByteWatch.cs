namespace Kit.Runner.Wire;

/// <summary>Looks at the bytes of one direction of one connection as they arrive, in pieces of any size.</summary>
internal interface IByteWatch
{
    /// <summary>
    /// If the target ends in <paramref name="piece"/>, the number of bytes of the piece that may be forwarded before a cut in front of the
    /// target; otherwise <see langword="null"/>.
    /// </summary>
    int? FindIn(ReadOnlySpan<byte> piece);
}

/// <summary>Counts to a number of bytes: the cut comes after them.</summary>
internal sealed class CountWatch(long bytes) : IByteWatch
{
    private long left = bytes;

    public int? FindIn(ReadOnlySpan<byte> piece)
    {
        if (piece.Length >= left)
            return (int)left;

        left -= piece.Length;
        return null;
    }
}

/// <summary>Looks for patterns one after another, with anything between them and also across pieces; finds the last.</summary>
internal sealed class PatternWatch(IReadOnlyList<byte[]> patterns) : IByteWatch
{
    /// <summary>The last bytes that passed and can be the beginning of the current pattern.</summary>
    private byte[] tail = [];
    private int met;

    public int? FindIn(ReadOnlySpan<byte> piece)
    {
        byte[] seen = [.. tail, .. piece];
        var from = 0;
        while (seen.AsSpan(from).IndexOf(patterns[met]) is >= 0 and var start)
        {
            if (met == patterns.Count - 1)
                return Math.Max(0, from + start - tail.Length);

            from += start + patterns[met].Length;
            met++;
        }

        tail = seen[^Math.Min(seen.Length - from, patterns[met].Length - 1)..];
        return null;
    }
}
