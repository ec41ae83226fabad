namespace Kit.Runner.Faults;

/// <summary>Looks at the bytes of one direction of one connection as they come, in whatever pieces.</summary>
internal interface IByteWatch
{
    /// <summary>
    /// Whether what is looked for ends in <paramref name="piece"/>, and how many bytes of it may go on before a cut in front of what is
    /// looked for; <see langword="null"/> where it does not.
    /// </summary>
    int? FindIn(ReadOnlySpan<byte> piece);
}

/// <summary>Counts to a number of bytes: the cut comes behind them.</summary>
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

/// <summary>Looks for a pattern, also where it lies across pieces, and finds it where it has come so many times.</summary>
internal sealed class PatternWatch(byte[] pattern, int occurrence) : IByteWatch
{
    private int left = occurrence;

    /// <summary>The last bytes that passed, one fewer than the pattern has.</summary>
    private byte[] tail = [];

    public int? FindIn(ReadOnlySpan<byte> piece)
    {
        byte[] seen = [.. tail, .. piece];
        for (var start = seen.AsSpan().IndexOf(pattern); start >= 0; start = Next(seen, start + pattern.Length))
        {
            if (--left == 0)
                return Math.Max(0, start - tail.Length);
        }

        tail = seen[^Math.Min(seen.Length, pattern.Length - 1)..];
        return null;
    }

    private int Next(byte[] seen, int from) => seen.AsSpan(from).IndexOf(pattern) is >= 0 and var start ? from + start : -1;
}
