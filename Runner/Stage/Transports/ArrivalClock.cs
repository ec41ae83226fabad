namespace Kit.Runner.Stage.Transports;

/// <summary>The clock for the arrival of a message in a queue.</summary>
internal enum ArrivalClock
{
    /// <summary>The commit timestamps of the database that has the queue.</summary>
    CommitTimestamps,

    /// <summary>This machine's clock, when a consumer of the runner receives it.</summary>
    Receipt,
}
