namespace Kit.Modes;

/// <summary>
/// Which commits of a message wait until the server's write-ahead log is on disk (<c>synchronous_commit</c>). PostgreSQL has one log for each
/// server, over all its databases, and a crash of the server loses the end of it: once a commit is on disk, every earlier one is.
/// </summary>
/// <remarks>
/// Of every commit that does not wait holds: others can see its rows, and its messages, and act on them, and a crash of the server takes them back.
/// </remarks>
public sealed record LogFlush
{
    private LogFlush(string name, string what) => (Name, What) = (name, what);

    /// <summary>Every commit waits, as the server is set.</summary>
    public static LogFlush Every { get; } = new("every", "every commit waits for the disk, unless the server is set otherwise");

    /// <summary>The message's last commit waits, and makes the earlier ones durable.</summary>
    public static LogFlush Last { get; } = new("last", "only a message's last commit waits for the disk, and makes the earlier ones durable");

    /// <summary>No commit waits. For a mode in which receive, rows and sends are one commit.</summary>
    public static LogFlush None { get; } = new("none", "no commit waits for the disk: a crash of the server takes the last ones back as a whole (shared)");

    public static IReadOnlyList<LogFlush> All { get; } = [Every, Last, None];

    /// <summary>Its name on the command line, in files and in reports.</summary>
    public string Name { get; }

    /// <summary>In a sentence.</summary>
    public string What { get; }

    public override string ToString() => Name;
}
