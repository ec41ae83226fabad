using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>A difference of a round with the same handler and messages. It shows how far a comparison of modes depends on it.</summary>
public sealed record Condition(string Name, string What)
{
    public static Condition Plain { get; } = new("plain", "nothing is different");

    /// <summary>The insert goes into a table without seeded rows.</summary>
    public static Condition EmptyTable { get; } = new("empty-table", "the widgets' table holds no rows except those of the warm-up")
    {
        Prepare = "TRUNCATE TABLE widget",
        IsEmpty = true,
    };

    /// <summary>The insert maintains two indexes.</summary>
    public static Condition SecondIndex { get; } = new("second-index", "the widgets' table also has an index on the message's id")
    {
        Prepare = "CREATE INDEX widget_by_message ON widget (message_id)",
    };

    /// <summary>One worker handles one message for the whole drain, and keeps open whatever its mode keeps open while a handler runs.</summary>
    public static Condition SlowHandler { get; } = new(
        "slow-handler", "one handler inserts its row and then waits until all other messages are handled, so they have one worker less")
    {
        IsOneSlow = true,
    };

    /// <summary>The queue's database cannot remove the rows of received messages.</summary>
    public static Condition PreparedTransaction { get; } = new(
        "prepared-transaction", "a prepared transaction of another application stays in the queue's database for the whole drain (queues in PostgreSQL)")
    {
        HoldsPrepared = true,
    };

    /// <summary>.NET's default, which the kit turns off.</summary>
    public static Condition TieredCompilation { get; } = new(
        "tiered-compilation", "the handler's process runs with tiered compilation, which is .NET's default and which the kit turns off")
    {
        IsTiered = true,
    };

    public static IReadOnlyList<Condition> All { get; } = [Plain, EmptyTable, SecondIndex, SlowHandler, PreparedTransaction, TieredCompilation];

    /// <summary>The statement that runs in the widgets' database before the first message; <see langword="null"/> if none.</summary>
    public string? Prepare { get; init; }

    /// <summary><see cref="Prepare"/> removes the seeded rows.</summary>
    public bool IsEmpty { get; init; }

    /// <summary>One handler of a drain waits for all others. It needs two workers.</summary>
    public bool IsOneSlow { get; init; }

    /// <summary>A prepared transaction is held in the queue's database.</summary>
    public bool HoldsPrepared { get; init; }

    /// <summary>The handler's process runs with tiered compilation.</summary>
    public bool IsTiered { get; init; }

    internal Support SupportOn(IEndpointKind kind) => this switch
    {
        { HoldsPrepared: true } when kind.Transport is not (TransportName.PostgreSql or TransportName.PostgreSqlApart) =>
            Support.No($"the condition '{Name}' needs a queue in PostgreSQL"),
        { Prepare: not null } when kind.WidgetServer != WidgetServer.PostgreSql =>
            Support.No($"the condition '{Name}' is written for widgets in PostgreSQL"),
        _ => Support.Yes,
    };
}
