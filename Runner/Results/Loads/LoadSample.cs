namespace Kit.Runner.Results.Loads;

/// <summary>
/// One sample of the processes and servers of a load: a line of <c>load.samples.jsonl</c>. A figure that no process or server could give is absent.
/// </summary>
/// <param name="Seconds">Since the load began.</param>
/// <param name="Sent">Messages confirmed by then.</param>
public sealed record LoadSample(CellName Cell, double Seconds, int Sent)
{
    /// <summary>Physical memory of the endpoint's processes, in bytes.</summary>
    public long? WorkingSetBytes { get; init; }

    /// <summary>The managed heaps of the endpoint's processes after their last collections, in bytes.</summary>
    public long? HeapBytes { get; init; }

    /// <summary>Threads of the endpoint's processes.</summary>
    public int? Threads { get; init; }

    /// <summary>Connections of the endpoint to PostgreSQL.</summary>
    public long? Connections { get; init; }

    /// <summary>Messages that the transport has, those that are being handled included.</summary>
    public long? Queued { get; init; }

    /// <summary>Rows that PostgreSQL counts as dead in all tables of the round's databases.</summary>
    public long? DeadRows { get; init; }

    /// <summary>All tables but the widgets', with their indexes, in bytes: queues, outboxes, and the counter of <c>update-one-row</c>.</summary>
    public long? QueueBytes { get; init; }

    /// <summary>The table of the widgets with its indexes, in bytes. It grows with every message.</summary>
    public long? WidgetBytes { get; init; }

    /// <summary>The files of PostgreSQL's log, in bytes.</summary>
    public long? WalBytes { get; init; }

    /// <summary>Vacuums of a table of the round by autovacuum.</summary>
    public long? Autovacuums { get; init; }
}
