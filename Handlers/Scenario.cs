namespace Kit.Handlers;

/// <summary>What a handler does with each message. The price of a mode, and what it is worth, depend on it.</summary>
/// <param name="Name">As options and documents name it.</param>
/// <param name="Handle">Handles one message, with the insert that the access library writes; the name is that of the queue that it sends to.</param>
public sealed record Scenario(string Name, Func<IWidgetInsert, string, HandleMessage> Handle)
{
    /// <summary>One row for each message: what is measured where no other scenario is named.</summary>
    public static Scenario Insert { get; } = new("insert", (insert, _) => new WidgetBuilder(insert).BuildAsync);

    /// <summary>One row, and one message that tells of it.</summary>
    public static Scenario InsertAndSend { get; } = new("insert-and-send", (insert, sink) => new WidgetAnnouncer(new WidgetBuilder(insert), sink).BuildAsync)
    {
        Sends = true,
    };

    /// <summary>One row, and 1 added to the one row in which all messages are counted: every handler waits for the commit of another.</summary>
    public static Scenario UpdateOneRow { get; } = new("update-one-row", (insert, _) => new WidgetCounter(new WidgetBuilder(insert)).BuildAsync)
    {
        Prepare =
            $"CREATE TABLE {WidgetCounter.Table} (id integer PRIMARY KEY, built bigint NOT NULL); INSERT INTO {WidgetCounter.Table} (id, built) VALUES (1, 0)",
        Total = $"SELECT built FROM {WidgetCounter.Table}",
    };

    /// <summary>One row at most for each message: a handler that may be run twice.</summary>
    public static Scenario Upsert { get; } = new("upsert", (_, _) => new WidgetBuilder(new AdoUpsert()).BuildAsync)
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
