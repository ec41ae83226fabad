namespace Kit.Runner.Measuring;

/// <summary>The counts that change while messages are handled.</summary>
/// <param name="Rows">Visible rows.</param>
/// <param name="Queue">Messages in the queue, including those being handled.</param>
/// <param name="Sink">Sent messages that have arrived.</param>
/// <param name="Errors">Dead letters.</param>
/// <param name="Outbox">Sent messages that wait in the endpoint's outbox; 0 without one.</param>
/// <param name="JournalLines">Steps that attempts have recorded.</param>
internal sealed record Counters(long Rows, long Prepared, long Queue, long Sink, long Errors, long Outbox, int JournalLines)
{
    /// <summary>True if no work is left, as far as counts show.</summary>
    public bool AreDone => IsReceived && Outbox == 0;

    /// <summary>True if every message is handled or dead-lettered.</summary>
    public bool IsReceived => Queue == 0 && Prepared == 0;
}
