using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Endpoints.Cells;

/// <summary>
/// The connection string of a cell's transport on RabbitMQ, <c>broker#queue-type=…&amp;prefetch=…</c>, with the settings that no other transport
/// has. A broker's address alone means the defaults.
/// </summary>
/// <param name="Prefetch">How many unacknowledged messages it pushes to the endpoint as a whole.</param>
public sealed record RabbitMqTransportSettings(
    RabbitMqAddress Broker, QueueType QueueType = QueueType.Classic, ushort Prefetch = RabbitMqTransportSettings.MeasuredPrefetch)
{
    /// <summary>One number for every framework. A measured MassTransit setup used it; an endpoint with two handlers gains little from more.</summary>
    public const ushort MeasuredPrefetch = 32;

    private const string TypeKey = "#queue-type=";
    private const string PrefetchKey = "&prefetch=";

    /// <summary>All settings in one text that <see cref="Parse"/> reads. It contains the password.</summary>
    public string Text => $"{Broker.Text}{TypeKey}{QueueType}{PrefetchKey}{Prefetch}";

    /// <summary>The settings for an endpoint with so many handlers: each of them can have a message.</summary>
    public RabbitMqTransportSettings For(int concurrency) => this with { Prefetch = (ushort)Math.Max(Prefetch, concurrency) };

    /// <exception cref="BrokerException">The broker's address cannot be read.</exception>
    /// <exception cref="FormatException">The text after the address does not have the form of <see cref="Text"/>.</exception>
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
                $"The RabbitMQ settings cannot be read. Expected after the broker's address: {TypeKey}{QueueType.Classic}{PrefetchKey}32."),
        };
    }
}
