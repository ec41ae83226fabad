namespace Kit.Runner.Results.Loads;

/// <summary>By what the latency of a load's messages ends.</summary>
public enum EffectClock
{
    /// <summary>The commit timestamp of the row that the handler inserted.</summary>
    RowCommit,

    /// <summary>The commit timestamp of what the handler sent, in its queue.</summary>
    SendCommit,

    /// <summary>This machine's clock, when a consumer of the runner received what the handler sent.</summary>
    SendReceipt,
}
