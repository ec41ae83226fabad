namespace Kit.Runner.Results.Loads;

/// <summary>The end of the latency of a load's messages.</summary>
public enum EffectClock
{
    /// <summary>The commit timestamp of the row that the handler inserted.</summary>
    RowCommit,

    /// <summary>The commit timestamp of the message that the handler sent, in its queue.</summary>
    SendCommit,

    /// <summary>This machine's clock, when a consumer of the runner received the message that the handler sent.</summary>
    SendReceipt,
}
