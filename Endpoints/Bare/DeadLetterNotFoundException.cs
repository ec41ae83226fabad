namespace Kit.Endpoints.Bare;

/// <summary>Some of the named messages are not in the error queue. No message was returned.</summary>
/// <param name="messageIds">The ids that were not found.</param>
public sealed class DeadLetterNotFoundException(IReadOnlyCollection<Guid> messageIds)
    : Exception($"Not among the dead letters: {string.Join(", ", messageIds)}.")
{
    public IReadOnlyCollection<Guid> MessageIds { get; } = messageIds;
}
