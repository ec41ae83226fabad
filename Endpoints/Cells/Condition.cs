using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>What is different in a round, with the same handler and the same messages: to see how far a comparison of modes depends on it.</summary>
/// <param name="Name">As options and documents name it.</param>
/// <param name="What">In a sentence.</param>
public sealed record Condition(string Name, string What)
{
    /// <summary>What is measured where no other condition is named.</summary>
    public static Condition Plain { get; } = new("plain", "nothing is different");

    /// <summary>The insert meets a table without seeded rows.</summary>
    public static Condition EmptyTable { get; } = new("empty-table", "the widgets' table holds no rows but those of the warm-up")
    {
        Prepare = "TRUNCATE TABLE widget",
        IsEmpty = true,
    };

    /// <summary>The insert maintains two indexes.</summary>
    public static Condition SecondIndex { get; } = new("second-index", "the widgets' table has an index on the message's id as well")
    {
        Prepare = "CREATE INDEX widget_by_message ON widget (message_id)",
    };

    /// <summary>One worker has one message for the whole drain, and with it whatever its mode keeps open while a handler runs.</summary>
    public static Condition SlowHandler { get; } = new(
        "slow-handler", "one handler inserts its row and then waits until all other messages are handled; one worker less for them")
    {
        IsOneSlow = true,
    };

    /// <summary>The queue's database cannot remove the rows of messages that are received.</summary>
    public static Condition PreparedTransaction { get; } = new(
        "prepared-transaction", "a prepared transaction of another application stays in the queue's database for the whole drain (queues in PostgreSQL)")
    {
        HoldsPrepared = true,
    };

    /// <summary>.NET's default, which the kit turns off.</summary>
    public static Condition TieredCompilation { get; } = new(
        "tiered-compilation", "the handler's process runs with tiered compilation, as .NET does by default and the kit does not")
    {
        IsTiered = true,
    };

    public static IReadOnlyList<Condition> All { get; } = [Plain, EmptyTable, SecondIndex, SlowHandler, PreparedTransaction, TieredCompilation];

    /// <summary>The statement that the widgets' database is given before the first message; <see langword="null"/>: none.</summary>
    public string? Prepare { get; init; }

    /// <summary>Whether <see cref="Prepare"/> removes the seeded rows.</summary>
    public bool IsEmpty { get; init; }

    /// <summary>Whether one handler of a drain waits for all others. It needs two workers.</summary>
    public bool IsOneSlow { get; init; }

    /// <summary>Whether a prepared transaction is held in the queue's database.</summary>
    public bool HoldsPrepared { get; init; }

    /// <summary>Whether the handler's process runs with tiered compilation.</summary>
    public bool IsTiered { get; init; }

    /// <summary>Whether it can be brought about for a framework on a transport, or why not.</summary>
    internal Support SupportOn(IEndpointKind kind) => this switch
    {
        { HoldsPrepared: true } when kind.Transport != TransportName.PostgreSql => Support.No($"the condition '{Name}' is one of a queue in PostgreSQL"),
        { Prepare: not null } when kind.Widgets != WidgetServer.PostgreSql => Support.No($"the condition '{Name}' is written for widgets in PostgreSQL"),
        _ => Support.Yes,
    };
}
