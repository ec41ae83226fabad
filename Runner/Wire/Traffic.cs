namespace Kit.Runner.Wire;

/// <summary>The direction of bytes through a <see cref="FaultProxy"/>.</summary>
[Flags]
public enum Traffic
{
    /// <summary>From the client: requests.</summary>
    ToServer = 1,

    /// <summary>From the server: answers.</summary>
    ToClient = 1 << 1,

    /// <summary>Either.</summary>
    Both = ToServer | ToClient,
}

/// <summary>The way in which a connection ends.</summary>
public enum Ending
{
    /// <summary>Both sides read the end of the stream (FIN), as when the other process closes its socket.</summary>
    Cut,

    /// <summary>Both sides get an error (RST), as if the other machine no longer knew the connection.</summary>
    Reset,
}
