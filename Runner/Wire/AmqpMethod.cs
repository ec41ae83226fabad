using System.Globalization;
using System.Text;

namespace Kit.Runner.Wire;

/// <summary>A method of AMQP 0-9-1, and RabbitMQ's extensions, by its two numbers.</summary>
internal readonly record struct AmqpMethod(ushort Class, ushort Id)
{
    public static AmqpMethod ConnectionStart { get; } = new(10, 10);

    public static AmqpMethod ConnectionOpen { get; } = new(10, 40);

    public static AmqpMethod ChannelOpen { get; } = new(20, 10);

    public static AmqpMethod Flow { get; } = new(20, 20);

    public static AmqpMethod ChannelClose { get; } = new(20, 40);

    public static AmqpMethod ConnectionClose { get; } = new(10, 50);

    public static AmqpMethod Publish { get; } = new(60, 40);

    public static AmqpMethod Return { get; } = new(60, 50);

    public static AmqpMethod Deliver { get; } = new(60, 60);

    public static AmqpMethod Get { get; } = new(60, 70);

    public static AmqpMethod GetOk { get; } = new(60, 71);

    public static AmqpMethod GetEmpty { get; } = new(60, 72);

    public static AmqpMethod Acknowledge { get; } = new(60, 80);

    public static AmqpMethod Refuse { get; } = new(60, 120);

    public static AmqpMethod ConfirmSelect { get; } = new(85, 10);

    private static AmqpMethod ExchangeUnbind { get; } = new(40, 40);

    /// <summary>The one answer of RabbitMQ whose number does not follow that of its method.</summary>
    private static AmqpMethod ExchangeUnbindOk { get; } = new(40, 51);

    /// <summary>
    /// The place of the bit <c>no-wait</c> in a method's arguments: the bytes of reserved numbers and the short strings before it, and the bit in the
    /// byte after them. From the specification of AMQP 0-9-1, and RabbitMQ's for exchange.bind and confirm.select.
    /// </summary>
    private static readonly Dictionary<AmqpMethod, (int Bytes, int Strings, int Bit)> NoWait = new()
    {
        [new(40, 10)] = (2, 2, 4),
        [new(40, 20)] = (2, 1, 1),
        [new(40, 30)] = (2, 3, 0),
        [ExchangeUnbind] = (2, 3, 0),
        [new(50, 10)] = (2, 1, 4),
        [new(50, 20)] = (2, 3, 0),
        [new(50, 30)] = (2, 1, 0),
        [new(50, 40)] = (2, 1, 2),
        [new(60, 20)] = (2, 2, 3),
        [new(60, 30)] = (0, 1, 0),
        [ConfirmSelect] = (0, 0, 0),
    };

    private static readonly Dictionary<AmqpMethod, string> Names = new()
    {
        [ConnectionStart] = "connection.start",
        [ConnectionOpen] = "connection.open",
        [ConnectionClose] = "connection.close",
        [new(10, 70)] = "connection.update-secret",
        [ChannelOpen] = "channel.open",
        [Flow] = "channel.flow",
        [ChannelClose] = "channel.close",
        [new(40, 10)] = "exchange.declare",
        [new(40, 20)] = "exchange.delete",
        [new(40, 30)] = "exchange.bind",
        [ExchangeUnbind] = "exchange.unbind",
        [new(50, 10)] = "queue.declare",
        [new(50, 20)] = "queue.bind",
        [new(50, 30)] = "queue.purge",
        [new(50, 40)] = "queue.delete",
        [new(50, 50)] = "queue.unbind",
        [new(60, 10)] = "basic.qos",
        [new(60, 20)] = "basic.consume",
        [new(60, 30)] = "basic.cancel",
        [Publish] = "basic.publish",
        [Return] = "basic.return",
        [Deliver] = "basic.deliver",
        [Get] = "basic.get",
        [GetEmpty] = "basic.get-empty",
        [Acknowledge] = "basic.ack",
        [new(60, 90)] = "basic.reject",
        [new(60, 100)] = "basic.recover-async",
        [new(60, 110)] = "basic.recover",
        [Refuse] = "basic.nack",
        [ConfirmSelect] = "confirm.select",
        [new(90, 10)] = "tx.select",
        [new(90, 20)] = "tx.commit",
        [new(90, 30)] = "tx.rollback",
    };

    private static readonly IReadOnlyList<string> MadeUp = ["amq.gen-", "amq.rabbitmq.reply-to."];

    /// <summary>Methods that a client sends and no server answers, except publishes.</summary>
    private static readonly HashSet<AmqpMethod> WithoutAnswer = [Acknowledge, Refuse, new(60, 90), new(60, 100)];

    /// <summary>True if the server answers it with the next number, unless its client <see cref="WantsNoAnswer"/>.</summary>
    public bool IsSynchronous => Id % 10 == 0 && !WithoutAnswer.Contains(this) && this != Publish;

    /// <summary>True if it answers another method, as <c>open-ok</c> does.</summary>
    public bool IsReply => Id % 10 == 1 || this == GetEmpty;

    /// <summary>The method that it answers.</summary>
    public AmqpMethod Asked => this == GetEmpty ? Get
        : this == ExchangeUnbindOk ? ExchangeUnbind
        : this with { Id = (ushort)(Id / 10 * 10) };

    /// <summary>True if a header and a body follow.</summary>
    public bool HasContent => this == Publish || this == Return || this == Deliver || this == GetOk;

    public bool WantsNoAnswer(ReadOnlySpan<byte> arguments)
    {
        if (!NoWait.TryGetValue(this, out var at))
            return false;

        var place = at.Bytes;
        for (var count = 0; count < at.Strings && place < arguments.Length; count++)
            place += 1 + arguments[place];
        // The server closes a connection whose client sends too little.
        return place < arguments.Length && (arguments[place] >> at.Bit & 1) != 0;
    }

    /// <summary>The method, and of a publish its destination.</summary>
    public string TextOf(ReadOnlySpan<byte> arguments)
    {
        // After a reserved number come the exchange and the routing key.
        if (this != Publish || arguments.Length < 4 || arguments.Length < 4 + arguments[2] || arguments.Length < 4 + arguments[2] + arguments[3 + arguments[2]])
            return $"{this}";

        var exchange = arguments.Slice(3, arguments[2]);
        return PublishTo(Encoding.UTF8.GetString(exchange), Encoding.UTF8.GetString(arguments.Slice(4 + exchange.Length, arguments[3 + exchange.Length])));
    }

    /// <summary>The text of a publish. The default exchange has no name, and leads to the queue of the key.</summary>
    public static string PublishTo(string exchange, string key)
    {
        // The broker made the rest of such a name up.
        var made = MadeUp.FirstOrDefault(beginning => key.StartsWith(beginning, StringComparison.Ordinal));
        return $"{Publish} {(exchange.Length == 0 ? "" : $"{exchange}/")}{(made is null ? key : $"{made}?")}".TrimEnd();
    }

    public override string ToString() => Names.TryGetValue(this, out var name) ? name
        : IsReply && Names.TryGetValue(Asked, out var asked) ? $"{asked}-ok"
        : string.Create(CultureInfo.InvariantCulture, $"method {Class}.{Id}");
}
