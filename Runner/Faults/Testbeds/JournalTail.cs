using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Faults.Testbeds;

/// <summary>The runner's view of a journal that is being written.</summary>
internal sealed class JournalTail(string path)
{
    private readonly byte[] buffer = new byte[64 * 1024];
    private long position;
    private int lines;

    /// <summary>The number of lines now; 0 before the first process has opened it.</summary>
    public int Count()
    {
        if (!File.Exists(path))
            return 0;

        using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        file.Position = position;
        while (file.Read(buffer) is > 0 and var read)
        {
            position += read;
            lines += buffer.AsSpan(0, read).Count((byte)'\n');
        }

        return lines;
    }

    public IReadOnlyList<AttemptLine> LinesOf(Guid message) =>
        File.Exists(path) ? [.. AttemptJournal.Read(path).Where(line => line.MessageId == message)] : [];
}
