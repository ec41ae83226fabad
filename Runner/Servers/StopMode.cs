namespace Kit.Runner.Servers;

/// <summary>The way in which a server is stopped.</summary>
public enum StopMode
{
    /// <summary>Ends its connections and saves its data first: PostgreSQL writes a checkpoint.</summary>
    Fast,

    /// <summary>Like a crash: unwritten data is lost, and the logs are replayed at the next start.</summary>
    Immediate,
}
