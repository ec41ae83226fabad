namespace Kit.Runner.Faults;

/// <summary>The direction that bytes go in through a <see cref="FaultProxy"/>.</summary>
[Flags]
public enum Traffic
{
    /// <summary>What the client sends.</summary>
    ToServer = 1,

    /// <summary>What the server answers.</summary>
    ToClient = 1 << 1,

    /// <summary>Either.</summary>
    Both = ToServer | ToClient,
}

/// <summary>How a connection is ended, or stopped.</summary>
public enum Ending
{
    /// <summary>Both sides read the end of the stream (FIN), as when the other process closes its socket.</summary>
    Cut,

    /// <summary>Both sides get an error (RST), as when the other machine has forgotten the connection.</summary>
    Reset,

    /// <summary>
    /// Neither is told, and in the direction in which the fault was met no byte passes any more: whoever waits there waits until the proxy ends the connection.
    /// </summary>
    Hold,
}

/// <summary>When a connection is ended, seen from bytes that are looked for.</summary>
public enum CutMoment
{
    /// <summary>The receiver never has them all: what they ask for does not happen.</summary>
    BeforeForwarding,

    /// <summary>The receiver has them, and perhaps acts on them while the connection ends.</summary>
    AfterForwarding,

    /// <summary>The receiver has acted on them and answered; its answer is withheld. What they ask for has happened, and the sender cannot know.</summary>
    BeforeAnswer,
}
