using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using RabbitMQ.Client.Exceptions;

namespace Kit.Runner.Stage.Operations;

/// <summary>Dead letters of a bare endpoint's queue in a virtual host of the user's.</summary>
internal sealed class DeadLettersOnRabbitMq : DeadLetters
{
    private readonly string name;
    private readonly RabbitMqAddress address;

    private DeadLettersOnRabbitMq(RabbitMqQueue queue, RabbitMqAddress address)
        : base(queue) => (name, this.address) = (queue.Name, address);

    protected override KitException Missing => new(
        $"There is no queue '{name}' in {address}.",
        "Give the endpoint's name (case matters), and the queue's virtual host at the end of the URI.");

    /// <param name="uri">With the virtual host.</param>
    /// <exception cref="KitException">The URI cannot be read.</exception>
    public static DeadLetters Open(string uri, string name)
    {
        var broker = NamedBroker.Parse(uri, management: null);
        return new DeadLettersOnRabbitMq(new RabbitMqQueue(broker, name), broker);
    }

    protected override KitException? Explain(Exception failure) => failure switch
    {
        BrokerException unreachable => new KitException(
            unreachable.Message, "Start the broker, or correct the URI: amqp://user:password@host:5672/vhost.", unreachable),
        OperationInterruptedException refused => new KitException(
            $"The broker refused: {address}: {refused.ShutdownReason?.ReplyText ?? refused.Message}.",
            $"The user needs the right to read {ErrorQueue.Of(name)}, and to write to the default exchange.", refused),
        _ => null,
    };
}
