using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Endpoints.Cells;

/// <summary>
/// What a cell on RabbitMQ gets as the connection string of its transport, <c>broker#queue-type=…&amp;prefetch=…</c>: the settings that no
/// other transport has. A broker's address alone stands for the defaults.
/// </summary>
/// <param name="Broker">Where the broker is, and its virtual host.</param>
/// <param name="QueueType">How it keeps its queues.</param>
/// <param name="Prefetch">How many messages it pushes ahead to the endpoint as a whole.</param>
public sealed record RabbitMqTransportSettings(
    RabbitMqAddress Broker, QueueType QueueType = QueueType.Classic, ushort Prefetch = RabbitMqTransportSettings.MeasuredPrefetch)
{
    /// <summary>The same for every framework. What a measured setup of MassTransit used; an endpoint of two handlers gains little from more.</summary>
    public const ushort MeasuredPrefetch = 32;

    private const string TypeKey = "#queue-type=";
    private const string PrefetchKey = "&prefetch=";

    /// <summary>All of it in one text that <see cref="Parse"/> reads. It holds the password.</summary>
    public string Text => $"{Broker.Text}{TypeKey}{QueueType}{PrefetchKey}{Prefetch}";

    /// <exception cref="BrokerException">The broker's address cannot be read.</exception>
    /// <exception cref="FormatException">What follows the address is not as <see cref="Text"/> writes it.</exception>
    public static RabbitMqTransportSettings Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        return text.Split(TypeKey) switch
        {
            [var broker] => new(RabbitMqAddress.Parse(broker)),
            [var broker, var rest] when rest.Split(PrefetchKey) is [var type, var prefetch]
                && Enum.TryParse<QueueType>(type, out var queueType) && Enum.IsDefined(queueType) && ushort.TryParse(prefetch, out var pushed) =>
                new(RabbitMqAddress.Parse(broker), queueType, pushed),
            _ => throw new FormatException(
                $"The settings of RabbitMQ cannot be read. Expected after the broker's address: {TypeKey}{QueueType.Classic}{PrefetchKey}32."),
        };
    }
}
