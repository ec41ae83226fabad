namespace Kit.Runner.Servers;

/// <summary>How a PostgreSQL server is stopped.</summary>
public enum StopMode
{
    /// <summary>Ends its connections and writes a checkpoint.</summary>
    Fast,

    /// <summary>As a crash would: no checkpoint; the log is replayed at the next start.</summary>
    Immediate,
}
