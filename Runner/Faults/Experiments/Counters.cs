namespace Kit.Runner.Faults.Experiments;

/// <summary>All that moves while messages are handled.</summary>
/// <param name="Rows">Rows that are visible.</param>
/// <param name="Prepared">Prepared transactions.</param>
/// <param name="Queue">Messages in the queue, those being handled included.</param>
/// <param name="Sink">Messages that were sent and have arrived.</param>
/// <param name="Errors">Messages that were given up.</param>
/// <param name="Outbox">Sent messages that wait in the endpoint's outbox; 0 without one.</param>
/// <param name="JournalLines">Steps that attempts have noted.</param>
internal sealed record Counters(long Rows, long Prepared, long Queue, long Sink, long Errors, long Outbox, int JournalLines)
{
    /// <summary>Whether nothing is left to be done, as far as counts can tell.</summary>
    public bool AreDone => IsReceived && Outbox == 0;

    /// <summary>Whether every message is handled or given up.</summary>
    public bool IsReceived => Queue == 0 && Prepared == 0;
}
