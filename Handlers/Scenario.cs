using System.Globalization;

namespace Kit.Handlers;

/// <summary>What a handler does with each message. Both the cost and the value of a mode depend on it.</summary>
/// <param name="Name">Its name in options and documents.</param>
/// <param name="What">A sentence that describes it.</param>
/// <param name="Handle">Makes the handler from the access library's insert and the name of the queue to send to.</param>
public sealed record Scenario(string Name, string What, Func<IWidgetInsert, string, HandleMessage> Handle)
{
    /// <summary>The default scenario.</summary>
    public static Scenario Insert { get; } = new("insert", "inserts one row", (insert, _) => new WidgetBuilder(insert).BuildAsync);

    /// <summary>One row, and one message that announces it.</summary>
    public static Scenario InsertAndSend { get; } = new(
        "insert-and-send", "inserts one row and sends one message", (insert, sink) => new WidgetAnnouncer(new WidgetBuilder(insert), sink).BuildAsync)
    {
        Sinks = 1,
    };

    /// <summary>One row, and 1 added to a single row that counts all messages: handlers wait for each other's commits.</summary>
    public static Scenario UpdateOneRow { get; } = new(
        "update-one-row",
        "inserts one row and adds 1 to a row that all messages share: handlers wait for each other's commits",
        (insert, _) => new WidgetCounter(new WidgetBuilder(insert)).BuildAsync)
    {
        Prepare =
            $"CREATE TABLE {WidgetCounter.Table} (id integer PRIMARY KEY, built bigint NOT NULL); INSERT INTO {WidgetCounter.Table} (id, built) VALUES (1, 0)",
        Total = $"SELECT built FROM {WidgetCounter.Table}",
    };

    /// <summary>At most one row for each message: a handler that can safely run twice.</summary>
    public static Scenario Upsert { get; } = new(
        "upsert",
        "inserts one row unless the message already has one (unique index on the message's id): handling a message twice does no harm",
        (_, _) => new WidgetBuilder(new AdoUpsert()).BuildAsync)
    {
        Prepare = "CREATE UNIQUE INDEX widget_message_id ON widget (message_id)",
        NeedsPostgreSql = true,
    };

    /// <summary>No row: the document goes on as it came.</summary>
    public static Scenario Pass { get; } = Forwards(
        "pass", "forwards the message's document unchanged; no row", sink => new OrderForwarder(sink).ForwardAsync, order => order);

    /// <summary>No row: the document goes on to whoever has subscribed.</summary>
    public static Scenario PassToTopic { get; } = Forwards(
        "pass-to-topic",
        "publishes an event with the message's document unchanged, to which 1 queue has subscribed; no row",
        _ => OrderPublisher.PublishAsync,
        order => order) with
    {
        IsPublisher = true,
    };

    /// <summary>No row: the document decides the queue.</summary>
    public static Scenario Route { get; } = new(
        "route",
        "looks into the message's document (XPath) and forwards it to one of two queues; no row",
        (_, sink) => new OrderRouter(sink, SinkAt(1, sink)).RouteAsync)
    {
        Rows = 0,
        Sinks = 2,
        Document = OrderDocument.Of,
        // By the id, which decided the region when the document was written. The handler reads the document.
        Expects = (message, _) => new ExpectedSend(OrderDocument.RegionOf(message.MessageId) == OrderDocument.North ? 0 : 1, message.Document),
    };

    /// <summary>No row: an interpreted stylesheet.</summary>
    public static Scenario TransformXsl { get; } = Transforms(
        "transform-xsl", "with XslTransform, the obsolete engine that interprets a stylesheet", () => new XslOrderTransform());

    /// <summary>No row: a stylesheet that was compiled before the first message.</summary>
    public static Scenario TransformOnce { get; } = Transforms(
        "transform-once", "with XslCompiledTransform, compiled once", () => new CompiledOrderTransform());

    /// <summary>No row: a stylesheet that is compiled again and again.</summary>
    public static Scenario TransformEach { get; } = Transforms(
        "transform-each", "with XslCompiledTransform, compiled for each message", () => new RecompiledOrderTransform());

    /// <summary>No row: code instead of a stylesheet.</summary>
    public static Scenario TransformMapper { get; } = Transforms(
        "transform-mapper", "with a mapper in C#, without a stylesheet", () => new MappedOrderTransform());

    /// <summary>No row is inserted: a seeded one is found, and sent back.</summary>
    public static Scenario Query { get; } = new(
        "query", "looks a seeded row up by its id and replies with it; no row is inserted", (_, _) => WidgetLookup.AnswerAsync)
    {
        Rows = 0,
        Sinks = 1,
        Asks = true,
        NeedsPostgreSql = true,
        Expects = (_, asked) => new ExpectedSend(0, asked is null ? null : WidgetLookup.ReplyWith(asked)),
    };

    /// <summary>Request and reply, with an interpreted stylesheet.</summary>
    public static Scenario TransformXslAndQuery { get; } = Answers("transform-xsl-and-query", TransformXsl, () => new XslOrderTransform());

    /// <summary>Request and reply, with a stylesheet that was compiled before the first message.</summary>
    public static Scenario TransformOnceAndQuery { get; } = Answers("transform-once-and-query", TransformOnce, () => new CompiledOrderTransform());

    /// <summary>One row, and one event to one subscriber.</summary>
    public static Scenario Publish1 { get; } = Publishes(1);

    /// <summary>One row, and one event to five subscribers.</summary>
    public static Scenario Publish5 { get; } = Publishes(5);

    /// <summary>One row, and one event to twenty subscribers.</summary>
    public static Scenario Publish20 { get; } = Publishes(20);

    public static IReadOnlyList<Scenario> All { get; } =
    [
        Insert, InsertAndSend, UpdateOneRow, Upsert, Pass, PassToTopic, Route, TransformXsl, TransformOnce, TransformEach, TransformMapper, Query,
        TransformXslAndQuery, TransformOnceAndQuery, Publish1, Publish5, Publish20,
    ];

    /// <summary>
    /// How many rows it inserts for each message, 1 or none. Without a row there is no commit that says when a message was handled, and its sends are its
    /// only effect.
    /// </summary>
    public int Rows { get; init; } = 1;

    /// <summary>How many queues its messages arrive in; 0: it sends nothing. Each is named by <see cref="SinkAt"/>.</summary>
    public int Sinks { get; init; }

    /// <summary>Whether it publishes an event, which arrives in each of these queues. Otherwise it sends a message to one of them.</summary>
    public bool IsPublisher { get; init; }

    /// <summary>How many messages arrive for each that is handled.</summary>
    public int Deliveries => IsPublisher ? Sinks : Math.Min(Sinks, 1);

    /// <summary>Makes the document of a message, from its id and the number of characters; <see langword="null"/>: it has none.</summary>
    public Func<Guid, int?, string>? Document { get; init; }

    /// <summary>Whether each message asks for a seeded row by its id, and names the first of the queues for the reply.</summary>
    public bool Asks { get; init; }

    /// <summary>
    /// What the handler must send for a message, from the message and the row that it asks for; <see langword="null"/>: only that it sends one is checked.
    /// </summary>
    public Func<BuildWidget, Widget?, ExpectedSend>? Expects { get; init; }

    /// <summary>The statements that the widgets' database needs before the first message; <see langword="null"/> if none.</summary>
    public string? Prepare { get; init; }

    /// <summary>The query for the number of messages that the handlers themselves counted; <see langword="null"/> if they do not count.</summary>
    public string? Total { get; init; }

    /// <summary>Whether its statements run on PostgreSQL only.</summary>
    public bool NeedsPostgreSql { get; init; }

    /// <summary>The name of one of the queues that messages arrive in.</summary>
    /// <param name="index">Which one, from 0.</param>
    /// <param name="sink">The name of the first.</param>
    public static string SinkAt(int index, string sink) => index == 0 ? sink : string.Create(CultureInfo.InvariantCulture, $"{sink}-{index + 1}");

    private static Scenario Publishes(int subscribers)
    {
        var queues = subscribers == 1 ? "1 queue has" : string.Create(CultureInfo.InvariantCulture, $"{subscribers} queues have");
        return new(
            string.Create(CultureInfo.InvariantCulture, $"publish-{subscribers}"),
            $"inserts one row and publishes one event, to which {queues} subscribed",
            (insert, _) => new WidgetPublisher(new WidgetBuilder(insert)).BuildAsync)
        {
            Sinks = subscribers,
            IsPublisher = true,
        };
    }

    // What it must have sent is computed without its handler: the mapper says what each stylesheet makes.
    private static Scenario Transforms(string name, string how, Func<IOrderTransform> create) => Forwards(
        name,
        $"transforms the message's document {how}, and forwards the result; no row",
        sink => new OrderTransformer(create(), sink).TransformAsync,
        new MappedOrderTransform().Transform);

    // The transform outlives the handlers, which can be built for each message.
    private static Scenario Answers(string name, Scenario transforming, Func<IOrderTransform> create)
    {
        var (transform, mapper) = (new Lazy<IOrderTransform>(create), new MappedOrderTransform());
        return new Scenario(
            name,
            $"transforms the message's document as {transforming.Name} does, looks a seeded row up, and replies with both; no row is inserted",
            (_, _) => new OrderLookup(transform.Value).AnswerAsync)
        {
            Rows = 0,
            Sinks = 1,
            Asks = true,
            NeedsPostgreSql = true,
            Document = OrderDocument.Of,
            Expects = (message, asked) =>
                new ExpectedSend(0, asked is null ? null : OrderLookup.ReplyWith(mapper.Transform(OrderDocument.In(message)), asked)),
        };
    }

    private static Scenario Forwards(string name, string what, Func<string, HandleMessage> handle, Func<string, string> resultOf) =>
        new(name, what, (_, sink) => handle(sink))
        {
            Rows = 0,
            Sinks = 1,
            Document = OrderDocument.Of,
            Expects = (message, _) => new ExpectedSend(0, resultOf(OrderDocument.In(message))),
        };
}

/// <summary>Handles one message.</summary>
public delegate Task HandleMessage(BuildWidget message, IMessageContext context, CancellationToken cancellationToken);
