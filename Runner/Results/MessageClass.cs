namespace Kit.Runner.Results;

/// <summary>What became of a message. Every message of a round is in exactly one class.</summary>
public enum MessageClass
{
    /// <summary>One row, and the message is nowhere else.</summary>
    Once,

    /// <summary>No row, and the message is nowhere.</summary>
    Lost,

    /// <summary>More than one row.</summary>
    Duplicated,

    /// <summary>In the error queue, with at most one row.</summary>
    Error,

    /// <summary>Still in the queue, with at most one row.</summary>
    Stuck,

    /// <summary>A row, an error or a queued message with an id that was never sent.</summary>
    Unexpected,
}
