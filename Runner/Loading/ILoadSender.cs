using Kit.Handlers;

namespace Kit.Runner.Loading;

/// <summary>A message of a load.</summary>
/// <param name="Message">The message.</param>
/// <param name="Due">When it was to be sent.</param>
/// <param name="Begun">When its send began.</param>
internal sealed record SentMessage(BuildWidget Message, DateTimeOffset Due, DateTimeOffset Begun);

/// <summary>What was sent.</summary>
/// <param name="Messages">Those that the transport has confirmed.</param>
/// <param name="Start">When the first was to be sent.</param>
/// <param name="Length">How long messages were sent.</param>
/// <param name="IsStopped">Whether it was stopped before its time.</param>
internal sealed record SentLoad(IReadOnlyList<SentMessage> Messages, DateTimeOffset Start, TimeSpan Length, bool IsStopped);

/// <summary>Sends the messages of one load.</summary>
internal interface ILoadSender
{
    /// <summary>Sends all messages, or those until it is stopped.</summary>
    /// <param name="stop">Ends the sending. What is under way is still sent.</param>
    /// <exception cref="Results.KitException">The transport did not confirm a send in time. All senders have ended.</exception>
    Task<SentLoad> RunAsync(CancellationToken stop);
}
