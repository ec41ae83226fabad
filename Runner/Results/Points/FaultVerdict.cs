namespace Kit.Runner.Results.Points;

/// <summary>The result of an experiment.</summary>
public enum FaultVerdict
{
    /// <summary>The fault fired, and every message is in a promised class.</summary>
    Kept,

    /// <summary>The fault fired, and a message is in a class that is not promised.</summary>
    Broken,

    /// <summary>The fault did not fire: the experiment shows nothing, and that counts as a failure.</summary>
    Void,

    /// <summary>The cell has no such moment.</summary>
    NoWindow,

    /// <summary>The experiment itself failed.</summary>
    Failed,
}
