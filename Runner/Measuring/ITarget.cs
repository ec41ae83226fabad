namespace Kit.Runner.Measuring;

/// <summary>Handlers that receive from a queue and leave effects, seen by whoever drives and measures them.</summary>
internal interface ITarget
{
    /// <summary>Handlers that were entered since <see cref="StartHandlingAsync"/>; up to a quarter of a second old.</summary>
    int Entered { get; }

    /// <summary>Handlers that returned since then.</summary>
    int Handled { get; }

    /// <summary>Handlers that threw since then.</summary>
    int Failed { get; }

    /// <summary>Called when <see cref="Handled"/> is new; it must be quick.</summary>
    Action? Progressed { set; }

    /// <summary>True if <see cref="ThrowIfBroken"/> would throw.</summary>
    bool IsBroken { get; }

    /// <exception cref="Exception">The target has ended unexpectedly, reported a failure or is out of reach.</exception>
    void ThrowIfBroken();

    /// <summary>The messages in the queue, including those being handled.</summary>
    Task<long> CountAsync(CancellationToken cancellationToken);

    /// <summary>Begins to receive. The counts begin at zero.</summary>
    /// <param name="messages">Messages that wait; 0 if unknown.</param>
    Task StartHandlingAsync(int messages, CancellationToken cancellationToken);

    /// <summary>Stops after the current messages.</summary>
    /// <returns>A report of each process.</returns>
    /// <exception cref="Results.KitException">A process broke, or does not stop in time.</exception>
    Task<IReadOnlyList<DrainReport>> StopHandlingAsync(CancellationToken cancellationToken);
}

/// <summary>A connection that sends messages to a target, one send at a time.</summary>
internal interface IProducer
{
    /// <summary>Sends new messages with these ids, and waits until the transport has confirmed them.</summary>
    Task SendAsync(IReadOnlyCollection<Guid> messages, CancellationToken cancellationToken);
}
