namespace Kit.Handlers;

/// <summary>What a handler does with each message. The price of a mode, and what it is worth, depend on it.</summary>
/// <param name="Name">As options and documents name it.</param>
/// <param name="What">In a sentence.</param>
/// <param name="Handle">Handles one message, with the insert that the access library writes; the name is that of the queue that it sends to.</param>
public sealed record Scenario(string Name, string What, Func<IWidgetInsert, string, HandleMessage> Handle)
{
    /// <summary>What is measured where no other scenario is named.</summary>
    public static Scenario Insert { get; } = new("insert", "inserts one row", (insert, _) => new WidgetBuilder(insert).BuildAsync);

    /// <summary>One row, and one message that tells of it.</summary>
    public static Scenario InsertAndSend { get; } = new(
        "insert-and-send", "inserts one row and sends one message", (insert, sink) => new WidgetAnnouncer(new WidgetBuilder(insert), sink).BuildAsync)
    {
        Sends = true,
    };

    /// <summary>One row, and 1 added to the one row in which all messages are counted: every handler waits for the commit of another.</summary>
    public static Scenario UpdateOneRow { get; } = new(
        "update-one-row",
        "inserts one row and adds 1 to a row that all messages share: handlers wait for each other's commits",
        (insert, _) => new WidgetCounter(new WidgetBuilder(insert)).BuildAsync)
    {
        Prepare =
            $"CREATE TABLE {WidgetCounter.Table} (id integer PRIMARY KEY, built bigint NOT NULL); INSERT INTO {WidgetCounter.Table} (id, built) VALUES (1, 0)",
        Total = $"SELECT built FROM {WidgetCounter.Table}",
    };

    /// <summary>One row at most for each message: a handler that may be run twice.</summary>
    public static Scenario Upsert { get; } = new(
        "upsert",
        "inserts one row unless the message has one, by a unique index on the message's id: to handle a message twice does no harm",
        (_, _) => new WidgetBuilder(new AdoUpsert()).BuildAsync)
    {
        Prepare = "CREATE UNIQUE INDEX widget_message_id ON widget (message_id)",
        NeedsPostgreSql = true,
    };

    public static IReadOnlyList<Scenario> All { get; } = [Insert, InsertAndSend, UpdateOneRow, Upsert];

    /// <summary>Whether each message makes its handler send one.</summary>
    public bool Sends { get; init; }

    /// <summary>The statements that the widgets' database needs before the first message; <see langword="null"/>: none.</summary>
    public string? Prepare { get; init; }

    /// <summary>Asks for the number of messages that the handlers have counted themselves; <see langword="null"/>: they count none.</summary>
    public string? Total { get; init; }

    /// <summary>Whether its statements are PostgreSQL's own.</summary>
    public bool NeedsPostgreSql { get; init; }
}

/// <summary>Handles one message.</summary>
public delegate Task HandleMessage(BuildWidget message, IMessageContext context, CancellationToken cancellationToken);
