using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>
/// A mode on PostgreSQL: what it supports, what it requires of its connections, and how its receivers are opened. Each mode has its own file, so that a diff
/// of two files is the comparison.
/// </summary>
internal sealed record PostgreSqlMode
{
    /// <summary>Whether the endpoint has it.</summary>
    public Support Supported { get; private init; } = Support.Yes;

    /// <summary>Whether it keeps its promise if only the last commit of a message waits for the log.</summary>
    public required Support FlushesLast { get; init; }

    /// <summary>The same if no commit waits.</summary>
    public Support FlushesNone { get; init; } = Support.No(
        "without any flush a crash of the server takes back what was committed in the last moments, and with receive, rows and sends in several " +
        "commits it could take back one of them and not another: use 'last'");

    /// <summary>The connections that commit without waiting, with the flush that it supports.</summary>
    public AsynchronousCommits Asynchronous { get; init; }

    /// <summary>Whether it can receive several messages at once.</summary>
    public required Support Batches { get; init; }

    /// <summary>Whether a commit can also receive.</summary>
    public required Support Ahead { get; init; }

    /// <summary>Whether handlers can have further databases, whose rows commit with the receive.</summary>
    public Support Participants { get; init; } = Support.No("only full-dtc commits the rows of several databases together: use it, or one database");

    /// <summary>Whether the endpoint must open and check each connection itself, so that it cannot use a data source.</summary>
    public bool OpensConnections { get; init; }

    /// <summary>Whether the driver enlists its connections in an ambient transaction.</summary>
    public bool IsEnlisted { get; init; }

    /// <summary>Prepares what the workers share, and says how a worker's receiver is opened.</summary>
    public required Func<EndpointSessions, CancellationToken, Task<Func<MessagePipeline, Task<IReceiver>>>> PrepareAsync { get; init; }

    /// <summary>A mode that the endpoint does not have.</summary>
    public static PostgreSqlMode No(string because)
    {
        var no = Support.No(because);
        return new PostgreSqlMode
        {
            Supported = no,
            FlushesLast = no,
            FlushesNone = no,
            Batches = no,
            Ahead = no,
            PrepareAsync = (_, _) => throw new NotSupportedException(because),
        };
    }

    /// <summary>How receivers are opened if the workers share nothing.</summary>
    public static Func<EndpointSessions, CancellationToken, Task<Func<MessagePipeline, Task<IReceiver>>>> Each(
        Func<EndpointSessions, MessagePipeline, Task<IReceiver>> open) =>
        (sessions, _) => Task.FromResult<Func<MessagePipeline, Task<IReceiver>>>(worker => open(sessions, worker));
}
