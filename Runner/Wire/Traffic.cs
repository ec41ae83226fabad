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

/// <summary>The way in which a connection ends, or stops.</summary>
public enum Ending
{
    /// <summary>Both sides read the end of the stream (FIN), as when the other process closes its socket.</summary>
    Cut,

    /// <summary>Both sides get an error (RST), as if the other machine no longer knew the connection.</summary>
    Reset,

    /// <summary>
    /// Neither is notified. In the direction of the fault no byte passes any more: the receiver waits until the proxy ends the connection.
    /// </summary>
    Hold,
}

/// <summary>The moment at which a connection ends, relative to the bytes of a pattern.</summary>
public enum CutMoment
{
    /// <summary>The receiver never gets all of them, so their request is not executed.</summary>
    BeforeForwarding,

    /// <summary>The receiver gets them, and may execute the request while the connection ends.</summary>
    AfterForwarding,

    /// <summary>The receiver has executed the request and answered; the answer is withheld, so the sender cannot know.</summary>
    BeforeAnswer,
}
