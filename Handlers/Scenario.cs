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
        Sends = true,
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

    public static IReadOnlyList<Scenario> All { get; } = [Insert, InsertAndSend, UpdateOneRow, Upsert];

    /// <summary>Whether the handler sends a message for each message.</summary>
    public bool Sends { get; init; }

    /// <summary>The statements that the widgets' database needs before the first message; <see langword="null"/> if none.</summary>
    public string? Prepare { get; init; }

    /// <summary>The query for the number of messages that the handlers themselves counted; <see langword="null"/> if they do not count.</summary>
    public string? Total { get; init; }

    /// <summary>Whether its statements run on PostgreSQL only.</summary>
    public bool NeedsPostgreSql { get; init; }
}

/// <summary>Handles one message.</summary>
public delegate Task HandleMessage(BuildWidget message, IMessageContext context, CancellationToken cancellationToken);
