namespace Kit.Runner.Wire;

/// <summary>Bytes that have come and are not a whole frame yet.</summary>
internal sealed class FrameBuffer
{
    private byte[] bytes = new byte[1024];
    private int start;
    private int end;

    public ReadOnlySpan<byte> Waiting => bytes.AsSpan(start..end);

    public void Add(ReadOnlySpan<byte> piece)
    {
        if (end + piece.Length > bytes.Length)
        {
            var larger = new byte[Math.Max(bytes.Length, 2 * (Waiting.Length + piece.Length))];
            Waiting.CopyTo(larger);
            (bytes, start, end) = (larger, 0, Waiting.Length);
        }

        piece.CopyTo(bytes.AsSpan(end));
        end += piece.Length;
    }

    /// <summary>Takes that many bytes; <see langword="null"/> if they have not all come.</summary>
    public byte[]? Take(int count)
    {
        if (count > Waiting.Length)
            return null;

        var taken = Waiting[..count].ToArray();
        start += count;
        if (start == end)
            start = end = 0;
        return taken;
    }
}
