namespace Kit.Runner.Servers;

/// <summary>The last lines that a process has written. Thread-safe.</summary>
internal sealed class LastLines(int most)
{
    private readonly Lock sync = new();
    private readonly Queue<string> lines = new();

    /// <summary>The kept lines, the oldest first.</summary>
    public IReadOnlyList<string> Kept
    {
        get
        {
            lock (sync)
                return [.. lines];
        }
    }

    public void Add(string line)
    {
        lock (sync)
        {
            lines.Enqueue(line);
            if (lines.Count > most)
                lines.Dequeue();
        }
    }
}
