namespace Kit.Runner.Servers;

/// <summary>How a server is stopped.</summary>
public enum StopMode
{
    /// <summary>Ends its connections and puts what it must keep in order: PostgreSQL writes a checkpoint.</summary>
    Fast,

    /// <summary>As a crash would: what was not written is lost, and the logs are replayed at the next start.</summary>
    Immediate,
}
