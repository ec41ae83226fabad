namespace Kit.Runner.Measuring;

/// <summary>A message of a load.</summary>
/// <param name="Message">Its id.</param>
/// <param name="Due">Time at which it was to be sent.</param>
/// <param name="Begun">Time at which its send began.</param>
internal sealed record SentMessage(Guid Message, DateTimeOffset Due, DateTimeOffset Begun);

/// <summary>The sent messages.</summary>
/// <param name="Messages">Messages that the transport has confirmed.</param>
/// <param name="Start">Time at which the first was to be sent.</param>
/// <param name="IsStopped">True if it was stopped before its time.</param>
internal sealed record SentLoad(IReadOnlyList<SentMessage> Messages, DateTimeOffset Start, TimeSpan Length, bool IsStopped)
{
    /// <summary>
    /// Messages of users for whom no connection was free until they gave up, or until the load was stopped: the moments at which their sends begin.
    /// </summary>
    public IReadOnlyCollection<SentMessage> Unsent { get; init; } = [];
}

/// <summary>Sends the messages of one load.</summary>
internal interface ILoadSender
{
    /// <summary>Sends all messages, or until it is stopped.</summary>
    /// <param name="stop">Ends the sending. Sends that are under way are completed.</param>
    /// <exception cref="Results.KitException">The transport did not confirm a send in time. All senders have ended.</exception>
    Task<SentLoad> RunAsync(CancellationToken stop);
}
