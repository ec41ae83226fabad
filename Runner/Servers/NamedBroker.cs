using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>The broker named by the user.</summary>
public static class NamedBroker
{
    /// <param name="management">The management plugin's address; <see langword="null"/>: port 15672 of its machine.</param>
    /// <exception cref="KitException">One of them cannot be read. The message does not repeat it.</exception>
    public static RabbitMqAddress Parse(string amqp, string? management)
    {
        try
        {
            var broker = RabbitMqAddress.Parse(amqp, management);
            return broker.Nodes == 1
                ? broker
                : throw new KitException("The RabbitMQ URI names several nodes, and a run measures one.", "Name the node that holds the queues.");
        }
        catch (BrokerException unreadable)
        {
            throw new KitException(unreadable.Message, "See https://www.rabbitmq.com/docs/uri-spec.", unreadable);
        }
    }
}
