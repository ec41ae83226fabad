using System.Data;
using System.Text.Json;

namespace Kit.Modes;

/// <summary>
/// How transactional a message handler is: what commits together, what is retried, and what the mode promises.
/// The four modes of <see cref="Matrix"/> follow a benchmark published for NServiceBus 5 in 2014. <see cref="Comparisons"/>
/// are measured as well when they are named.
/// </summary>
public sealed record TransactionMode
{
    private TransactionMode(string name) => Name = name;

    /// <summary>The mode's name on the command line, in files and in reports.</summary>
    public string Name { get; internal init; }

    /// <summary>What the receive of the message commits with, and when.</summary>
    public required string Receive { get; init; }

    /// <summary>What the handler's insert commits with, and when.</summary>
    public required string Insert { get; init; }

    /// <summary>What the messages that the handler sends commit with, and when.</summary>
    public required string Sends { get; init; }

    /// <summary>What happens when the handler throws.</summary>
    public required string OnThrow { get; init; }

    /// <summary>What a user can rely on, and what not.</summary>
    public required string Promise { get; init; }

    /// <summary>The condition under which to use it, as the end of a sentence that begins with "if" or "when". The first one that holds decides.</summary>
    public required string UseWhen { get; init; }

    /// <summary>
    /// NServiceBus's names for its settings, as Markdown; <see langword="null"/> if NServiceBus has none. The transport says whether it supports them.
    /// </summary>
    public string? InNServiceBus { get; init; }

    /// <summary>
    /// Why no other transport and no other framework has it, if only the bare endpoint on PostgreSQL has; <see langword="null"/> if each says so itself.
    /// </summary>
    public string? OnlyOnPostgreSqlBecause { get; init; }

    /// <summary>How often a failed message is retried, at once, before it goes to the error queue.</summary>
    public int ImmediateRetries { get; init; } = 2;

    /// <summary>
    /// Whether a failure is counted only after the receive has been rolled back. Before it is counted, each other worker can handle the
    /// message once more.
    /// </summary>
    public bool CountsAfterRollback { get; init; }

    /// <summary>Whether the queue must be in the widgets' database, because one transaction on one connection covers both.</summary>
    public bool NeedsOneDatabase { get; init; }

    /// <summary>The isolation level of every transaction that an endpoint opens in this mode.</summary>
    public IsolationLevel Isolation { get; init; } = IsolationLevel.ReadCommitted;

    /// <summary><see cref="Isolation"/> as databases write it: <c>read committed</c>.</summary>
    public string IsolationInWords => JsonNamingPolicy.SnakeCaseLower.ConvertName(Isolation.ToString()).Replace('_', ' ');

    /// <summary>How the handler's rows commit, as seen on its connection.</summary>
    public required RowCommit RowCommit { get; init; }

    /// <summary>What commits when, as seen from outside.</summary>
    public required CommitOrder CommitOrder { get; init; }

    /// <summary>Whether receive, rows and sends commit together.</summary>
    public bool IsOneUnit => CommitOrder.IsMessageLeftAfterCommit is false;

    /// <summary>What a crash of the handler's process can do to the messages being handled.</summary>
    public required CrashEffect CrashEffect { get; init; }

    /// <summary>How often a failing message is handled in total.</summary>
    public int Attempts => 1 + ImmediateRetries;

    public static TransactionMode FullDtc { get; } = new("full-dtc")
    {
        Receive = "one atomic unit with insert and sends (two-phase commit)",
        Insert = "in that unit",
        Sends = "in that unit",
        OnThrow = "all rolled back, retried",
        RowCommit = RowCommit.InTwoPhases,
        CommitOrder = new(
            HasAmbientTransaction: true, IsRowVisibleInHandler: false, IsMessageLeftInHandler: true, IsMessageLeftAfterCommit: false),
        CrashEffect = CrashEffect.None,
        UseWhen = "rows and queue are two databases of one PostgreSQL server",
        InNServiceBus = "`TransactionScope` (on PostgreSQL with the kit's transport)",
        Promise = "Each message has its effect exactly once, even if either side crashes. The row becomes visible a moment after the " +
                  "decision, when the second phase has run, usually in the background. " +
                  "A message that the handler sent can be received before the row is visible.",
    };

    public static TransactionMode DtcOff { get; } = new("dtc-off")
    {
        Receive = "its own transaction, committed last",
        Insert = "own TransactionScope around the handler, committed before the receive",
        Sends = "with the receive, if the transport supports that",
        OnThrow = "insert rolled back, message retried",
        RowCommit = RowCommit.Once,
        CommitOrder = new(
            HasAmbientTransaction: true, IsRowVisibleInHandler: false, IsMessageLeftInHandler: true, IsMessageLeftAfterCommit: true),
        CrashEffect = CrashEffect.Doubles,
        UseWhen = "your handler is idempotent and has several statements",
        InNServiceBus = "`SendsAtomicWithReceive` and wrap",
        Promise = "No message is lost. After a crash between the two commits the message is handled again, and its rows can be doubled. " +
                  "A handler that throws leaves nothing behind. Under a framework, a handler that swallows a database error loses its " +
                  "rows: PostgreSQL answers the scope's commit with a roll-back, and the driver reports success (npgsql issue 6641).",
    };

    public static TransactionMode ScopeOff { get; } = new("scope-off")
    {
        Receive = "its own transaction, committed last",
        Insert = "own autocommit",
        Sends = "with the receive, if the transport supports that",
        OnThrow = "insert stays, message retried",
        RowCommit = RowCommit.EachStatement,
        CommitOrder = new(
            HasAmbientTransaction: false, IsRowVisibleInHandler: true, IsMessageLeftInHandler: true, IsMessageLeftAfterCommit: null),
        CrashEffect = CrashEffect.Doubles,
        UseWhen = "your handler is idempotent and has one statement",
        InNServiceBus = "`SendsAtomicWithReceive`",
        Promise = "No message is lost. After a crash or a throw that follows an insert, the message is handled again: its rows can be " +
                  "doubled, and a handler with several statements can leave its work half done.",
    };

    public static TransactionMode TransactionsOff { get; } = new("transactions-off")
    {
        Receive = "committed before the handler runs",
        Insert = "own autocommit",
        Sends = "at once",
        OnThrow = "not retried; to the error queue at best",
        RowCommit = RowCommit.EachStatement,
        CommitOrder = new(
            HasAmbientTransaction: false, IsRowVisibleInHandler: true, IsMessageLeftInHandler: false, IsMessageLeftAfterCommit: null),
        CrashEffect = CrashEffect.Loses,
        ImmediateRetries = 0,
        UseWhen = "you can do without a message",
        InNServiceBus = "`None`",
        Promise = "A message is handled at most once. A crash loses messages that were received and not yet handled. A handler that throws " +
                  "leaves behind the work that it had done.",
    };

    /// <summary><see cref="FullDtc"/>, where the worker finishes the second phase before its next message.</summary>
    public static TransactionMode FullDtcWaiting { get; } = FullDtc with
    {
        Name = "full-dtc-waiting",
        UseWhen = "rows and queue are two databases of one PostgreSQL server, and a worker's next message must see the row of its last one",
        InNServiceBus = null,
        OnlyOnPostgreSqlBecause = "only on PostgreSQL is there a second phase that the kit could wait for",
        Promise = "As full-dtc, and the worker receives its next message only when the row is visible. Another endpoint can " +
                  "still receive a message that the handler sent a moment earlier.",
    };

    /// <summary><see cref="FullDtc"/> on SQL Server over two connections: MSDTC coordinates.</summary>
    public static TransactionMode FullDtcPromoted { get; } = FullDtc with
    {
        Name = "full-dtc-promoted",
        Receive = "one TransactionScope with insert and sends, promoted to a distributed transaction",
        Insert = "in that transaction, in another database",
        Sends = "in that transaction",
        RowCommit = RowCommit.Once,
        UseWhen = "rows and queue are two databases of a SQL Server, on Windows",
        InNServiceBus = "`TransactionScope`",
        Promise = "As full-dtc, with MSDTC as coordinator: MSDTC's log holds the decision, and MSDTC ends branches that a crash left in doubt.",
    };

    /// <summary>Npgsql's own two-phase commit: both connections enlisted in one TransactionScope.</summary>
    public static TransactionMode NpgsqlScope { get; } = new("npgsql-scope")
    {
        Receive = "one TransactionScope with insert and sends (the driver's two-phase commit)",
        Insert = "in that scope",
        Sends = "in that scope",
        OnThrow = "all rolled back, retried; the failure is counted afterwards",
        RowCommit = RowCommit.InTwoPhases,
        CommitOrder = new(
            HasAmbientTransaction: true, IsRowVisibleInHandler: false, IsMessageLeftInHandler: true, IsMessageLeftAfterCommit: false),
        CrashEffect = CrashEffect.LeavesInDoubt,
        CountsAfterRollback = true,
        UseWhen = "never: it is there for comparison",
        OnlyOnPostgreSqlBecause = "Npgsql is PostgreSQL's driver",
        Promise = "As full-dtc while nothing fails. The driver recovers nothing: after a crash between the phases, an operator must end the " +
                  "branches left in doubt. The driver does not report a failed second phase. A handler that swallows a database error " +
                  "loses its rows (npgsql issues 1378, 5683 and 6641).",
    };

    /// <summary>One local transaction on one connection, for a queue and widgets in one database.</summary>
    public static TransactionMode Shared { get; } = new("shared")
    {
        Receive = "one local transaction with insert and sends",
        Insert = "in that transaction, on the receive's connection",
        Sends = "in that transaction",
        OnThrow = "insert and sends rolled back, retried",
        NeedsOneDatabase = true,
        RowCommit = RowCommit.WithReceive,
        CommitOrder = new(
            HasAmbientTransaction: false, IsRowVisibleInHandler: false, IsMessageLeftInHandler: true, IsMessageLeftAfterCommit: false),
        CrashEffect = CrashEffect.None,
        UseWhen = "your rows and the queue can be in one PostgreSQL database",
        InNServiceBus = "`SendsAtomicWithReceive`, handler in the receive's transaction",
        Promise = "Each message has its effect exactly once, even if either side crashes, at the price of one commit. The queue must be " +
                  "in the handler's database, and the receive stays open until the handler's transaction commits. Anything that the " +
                  "handler does elsewhere is not covered.",
    };

    /// <summary>The handler's own transaction records the message's id and its sends. The sends are dispatched after it.</summary>
    public static TransactionMode Outbox { get; } = new("outbox")
    {
        Receive = "its own transaction, committed last, even if a send could not be dispatched",
        Insert = "own local transaction, with the message's id and the handler's sends; committed before the receive",
        Sends = "recorded with the insert, dispatched after its commit and retried until they arrive; after a crash sent again, with the same id",
        OnThrow = "insert and sends rolled back, retried",
        RowCommit = RowCommit.Once,
        CommitOrder = new(
            HasAmbientTransaction: false, IsRowVisibleInHandler: false, IsMessageLeftInHandler: true, IsMessageLeftAfterCommit: true),
        CrashEffect = CrashEffect.None,
        UseWhen = "the queue is elsewhere, and rows must not be doubled",
        InNServiceBus = "`ReceiveOnly` and `EnableOutbox`",
        Promise = "Each message has its rows exactly once, on any transport: a message whose id is recorded is not handled again. " +
                  "The handler's sends go out at least once, always with the same id, so a receiver can recognise a duplicate. Once the " +
                  "handler has committed, the message is done and does not go to the error queue. A send that cannot be dispatched waits " +
                  "in the outbox and is retried every few seconds while the endpoint runs. All this holds for as long as the ids are kept.",
    };

    /// <summary>The modes of the default matrix, the most transactional first.</summary>
    public static IReadOnlyList<TransactionMode> Matrix { get; } = [FullDtc, DtcOff, ScopeOff, TransactionsOff];

    /// <summary>The modes that are measured only when they are named.</summary>
    public static IReadOnlyList<TransactionMode> Comparisons { get; } = [FullDtcWaiting, FullDtcPromoted, NpgsqlScope, Shared, Outbox];

    public static IReadOnlyList<TransactionMode> All { get; } = [.. Matrix, .. Comparisons];

    /// <exception cref="ArgumentException">No mode has that name; the message lists the modes.</exception>
    public static TransactionMode Parse(string name) =>
        All.FirstOrDefault(mode => string.Equals(mode.Name, name, StringComparison.Ordinal))
        ?? throw new ArgumentException($"Unknown mode '{name}'. Modes: {string.Join(", ", All.Select(mode => mode.Name))}.", nameof(name));

    public override string ToString() => Name;
}
