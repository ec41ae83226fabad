using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;

namespace Kit.Runner.Stage;

/// <summary>Sends messages of a round to its queue, on a connection of its own.</summary>
internal sealed class RoundProducer(IMessageQueue queue, RoundMessages messages) : IProducer
{
    public Task SendAsync(IReadOnlyCollection<Guid> ids, CancellationToken cancellationToken) =>
        queue.PreloadAsync([.. ids.Select(messages.Next)], cancellationToken);
}
