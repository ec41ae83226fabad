using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Handlers;

namespace Kit.Endpoints.Cells;

/// <summary>A queue in RabbitMQ, the same messages in it whatever the framework that handles them.</summary>
internal abstract class RabbitMqCellQueue(RabbitMqQueue queue, string name) : ICellQueue
{
    protected RabbitMqQueue Queue { get; } = queue;

    public abstract Task CreateAsync(CancellationToken cancellationToken);

    public abstract Task<IReadOnlyList<GivenUp>> ReadErrorsAsync(CancellationToken cancellationToken);

    public Task PreloadAsync(IReadOnlyCollection<BuildWidget> messages, CancellationToken cancellationToken) =>
        Queue.EnqueueAsync(messages.Select(message => OutgoingMessage.Create(name, message, message.MessageId)), cancellationToken);

    public Task PreloadUnreadableAsync(Guid messageId, CancellationToken cancellationToken) =>
        Queue.EnqueueAsync([OutgoingMessage.Create(name, new BuildWidget(messageId), messageId) with { Body = "{ no JSON"u8.ToArray() }], cancellationToken);

    public Task<long> CountAsync(CancellationToken cancellationToken) => Queue.CountAsync(cancellationToken);

    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => Queue.ReadMessagesAsync(cancellationToken);

    public Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) => Queue.ReadBodySizeAsync(cancellationToken);

    public ValueTask DisposeAsync() => Queue.DisposeAsync();
}
