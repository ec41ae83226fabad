namespace Kit.Endpoints.Bare;

/// <summary>Messages were named that do not lie among the errors of their queue; none was returned.</summary>
/// <param name="messageIds">Those that were not found.</param>
public sealed class DeadLetterNotFoundException(IReadOnlyCollection<Guid> messageIds)
    : Exception($"Not among the dead letters: {string.Join(", ", messageIds)}.")
{
    public IReadOnlyCollection<Guid> MessageIds { get; } = messageIds;
}
