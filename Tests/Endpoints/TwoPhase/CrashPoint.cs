namespace Kit.Tests.TwoPhase;

/// <summary>Where a process stands when it is killed.</summary>
public enum CrashPoint
{
    /// <summary>Anywhere.</summary>
    Anywhere,

    /// <summary>The branch is prepared, the queue has not committed.</summary>
    BeforeDecision,

    /// <summary>The queue has committed, the branch is still prepared.</summary>
    AfterDecision,
}
