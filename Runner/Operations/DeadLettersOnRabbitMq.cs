using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using RabbitMQ.Client.Exceptions;

namespace Kit.Runner.Operations;

/// <summary>Dead letters of a bare endpoint's queue in a virtual host of the user's.</summary>
internal sealed class DeadLettersOnRabbitMq : IDeadLetters
{
    private readonly RabbitMqQueue queue;
    private readonly RabbitMqAddress address;
    private readonly string name;

    /// <param name="uri">The broker and its virtual host.</param>
    /// <param name="name">The queue's name.</param>
    /// <exception cref="KitException">The URI cannot be read.</exception>
    public DeadLettersOnRabbitMq(string uri, string name)
    {
        (this.name, address) = (name, NamedBroker.Parse(uri, management: null));
        queue = new RabbitMqQueue(address, name);
    }

    public Task<IReadOnlyList<DeadLetter>> ReadAsync(CancellationToken cancellationToken) =>
        OnQueueAsync(() => queue.ReadErrorsAsync(cancellationToken), cancellationToken);

    public Task<IReadOnlyList<Guid>> ReturnAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken) =>
        OnQueueAsync(() => queue.ReturnErrorsAsync(messageIds, cancellationToken), cancellationToken);

    public ValueTask DisposeAsync() => queue.DisposeAsync();

    private async Task<T> OnQueueAsync<T>(Func<Task<T>> work, CancellationToken cancellationToken)
    {
        try
        {
            return await queue.ExistsAsync(cancellationToken)
                ? await work()
                : throw new KitException(
                    $"There is no queue '{name}' in {address}.",
                    "Name the queue as its endpoint is named (upper and lower case differ), and its own virtual host at the end of the " +
                    "URI.");
        }
        catch (BrokerException failure)
        {
            throw new KitException(failure.Message, "Start the broker, or correct the URI: amqp://user:password@host:5672/vhost.", failure);
        }
        catch (OperationInterruptedException refused)
        {
            throw new KitException(
                $"The broker refused: {address}: {refused.ShutdownReason?.ReplyText ?? refused.Message}.",
                $"The user needs the right to read {name}_error, and to write to the default exchange.", refused);
        }
    }
}
