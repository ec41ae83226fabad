using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees;

/// <summary>
/// Something that goes wrong while one message is handled, or while a server is needed, and what each mode promises under it. The handler that meets it
/// writes two rows and sends one message, so that half-done work shows.
/// </summary>
public sealed class Fault
{
    // The depth of the drain changes how many messages there are, not their class.
    private static readonly PromiseRow QueueServerCrashes = new(
        OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Duplicated, Once], TransactionsOff: [Zombie, Lost, Once],
        NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [DuplicatedOutgoing, Once]);

    private Fault(string name, string what, PromiseRow promise, Func<PromiseRow, PromiseRow>? onBroker = null) =>
        (Name, What, Promise, PromiseOnBroker) = (name, what, promise, onBroker is null ? promise : onBroker(promise));

    public static Fault ThrowBeforeInsert { get; } = new(
        "throw-before-insert", "the handler throws once, before its first insert",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [CleanError], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault ThrowAfterInsert { get; } = new(
        "throw-after-insert", "the handler throws once, between its two inserts",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn, Duplicated], TransactionsOff: [Torn, Zombie], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault Poison { get; } = new(
        "poison", "the handler always throws, between its two inserts",
        new(
            OneUnit: [CleanError], DtcOff: [CleanError], ScopeOff: [Torn, Duplicated, Zombie], TransactionsOff: [Torn, Zombie],
            NpgsqlScope: [CleanError], Outbox: [CleanError]));

    public static Fault KillBeforeCommit { get; } = new(
        "kill-before-commit", "the process is killed before the rows commit",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Lost], NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]));

    public static Fault KillBetweenInserts { get; } = new(
        "kill-between-inserts", "the process is killed between the two inserts",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn, Duplicated], TransactionsOff: [Torn, Zombie], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault KillBeforeDispatch { get; } = new(
        "kill-before-dispatch", "the process is killed after the rows have committed, before the message is sent",
        // outbox: no byte of the process passes between the commit and its end, so nothing is sent before a new process sends it.
        new(
            OneUnit: [Once], DtcOff: [Duplicated], ScopeOff: [Duplicated], TransactionsOff: [Zombie], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault KillAtDispatch { get; } = new(
        "kill-at-dispatch", "the process is killed while the handler's message is on its way to the broker; the message does not arrive",
        // The rows are there, and the message must be sent too: a message that is acknowledged before its send is not handled again. outbox: as
        // before the dispatch.
        new(
            OneUnit: [Once], DtcOff: [Duplicated], ScopeOff: [Duplicated], TransactionsOff: [Zombie], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault KillBeforeAcknowledgement { get; } = new(
        "kill-before-ack", "the process is killed when everything is done except the commit or acknowledgement of the receive",
        new(
            OneUnit: [Once], DtcOff: [Duplicated, DuplicatedOutgoing], ScopeOff: [Duplicated, DuplicatedOutgoing], TransactionsOff: [Once],
            NpgsqlScope: [Once], Outbox: [DuplicatedOutgoing, Once]));

    public static Fault CutAtCommit { get; } = new(
        "cut-at-commit",
        "the connection to the rows' database is cut while the answer to the commit (in two-phase commit, to the prepare) is on its way",
        new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Torn, Duplicated, Once], TransactionsOff: [Torn, Zombie, CleanError],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]));

    public static Fault CutAtReceive { get; } = new(
        "cut-at-receive", "the connection to the transport is cut while the receive commits or is acknowledged",
        // outbox: with a queue in a database, a living process can ask the server what became of its commit.
        new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Duplicated, Once], TransactionsOff: [Zombie, Lost, Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]),
        onBroker: row => row with
        {
            DtcOff = [Duplicated, DuplicatedOutgoing, Once],
            ScopeOff = [Duplicated, DuplicatedOutgoing, Once],
            Outbox = [DuplicatedOutgoing, Once],
        });

    public static Fault RestartDatabase { get; } = new(
        "restart-database", "the database server crashes when 5 % of a drain has been attempted, and restarts",
        // outbox: a send that was dispatched without the outbox knowing it is dispatched again.
        new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Torn, Duplicated, Once], TransactionsOff: [Torn, Zombie, Lost, CleanError, Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [DuplicatedOutgoing, Once]),
        onBroker: row => row with { TransactionsOff = [Torn, Zombie, CleanError, Once] })
    {
        Crashes = CrashedServer.OfRows,
    };

    public static Fault RestartBroker { get; } = new(
        "restart-broker", "the queue's own server, such as a broker, crashes when 5 % of a drain has been attempted, and restarts",
        QueueServerCrashes, Redelivers)
    {
        Crashes = CrashedServer.OfQueue,
    };

    public static Fault RestartBrokerHalfway { get; } = new(
        "restart-broker-halfway", "the queue's own server, such as a broker, crashes when half of a drain has been attempted, and restarts",
        QueueServerCrashes, Redelivers)
    {
        Crashes = CrashedServer.OfQueue,
    };

    public static Fault RestartBrokerLate { get; } = new(
        "restart-broker-late", "the queue's own server, such as a broker, crashes when 90 % of a drain has been attempted, and restarts",
        QueueServerCrashes, Redelivers)
    {
        Crashes = CrashedServer.OfQueue,
    };

    public static Fault SentTwice { get; } = new(
        "sent-twice", "the message is in the queue twice with the same id, and two workers have it at the same time",
        // Two messages in every mode but outbox, which remembers ids. In outbox both workers can dispatch the sends that one of them committed.
        new(
            OneUnit: [Duplicated, DuplicatedOutgoing], DtcOff: [Duplicated, DuplicatedOutgoing], ScopeOff: [Duplicated, DuplicatedOutgoing],
            TransactionsOff: [Duplicated, DuplicatedOutgoing], NpgsqlScope: [Duplicated, DuplicatedOutgoing],
            Outbox: [DuplicatedOutgoing, Once]));

    public static Fault LostDeadlock { get; } = new(
        "lost-deadlock", "a statement between the two inserts becomes the victim of a deadlock",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn, Duplicated], TransactionsOff: [Torn, Zombie], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault SwallowedError { get; } = new(
        "swallowed-error", "the second insert fails; the handler catches the error and continues",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn], TransactionsOff: [Torn], NpgsqlScope: [Ghost], Outbox: [Once]));

    public static Fault FailedCommit { get; } = new(
        "failed-commit", "the commit of the first row fails once, because of a deferred constraint",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [CleanError], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault FailedDispatch { get; } = new(
        "failed-dispatch", "the queue that the handler sends to does not exist",
        // outbox: the rows have committed with the sends, and the message is done. The dispatcher keeps trying.
        new(
            OneUnit: [CleanError], DtcOff: [Duplicated, Zombie], ScopeOff: [Duplicated, Zombie], TransactionsOff: [Zombie], NpgsqlScope: [CleanError],
            Outbox: [Zombie]));

    public static Fault LateQueue { get; } = new(
        "late-queue", "the queue that the handler sends to is created only after the message has been handled or given up",
        // The message is given up before the queue exists. Only outbox still sends after the message is done.
        new(
            OneUnit: [CleanError], DtcOff: [Duplicated, Zombie], ScopeOff: [Duplicated, Zombie], TransactionsOff: [Zombie], NpgsqlScope: [CleanError],
            Outbox: [DuplicatedOutgoing, Once]));

    public static Fault ImmediateSend { get; } = new(
        "immediate-send", "the handler sends without using its endpoint, and then always throws",
        // No mode covers a send that does not use the endpoint.
        new(
            OneUnit: [Ghost, DuplicatedOutgoing], DtcOff: [Ghost, DuplicatedOutgoing], ScopeOff: [Ghost, DuplicatedOutgoing],
            TransactionsOff: [Ghost, DuplicatedOutgoing], NpgsqlScope: [Ghost, DuplicatedOutgoing], Outbox: [Ghost, DuplicatedOutgoing]));

    public static Fault SecondConnection { get; } = new(
        "second-connection", "the handler opens a second connection, in the ambient transaction if there is one, and makes its second insert on it",
        // One unit: the kit refuses a second connection, because its recovery covers only the first. dtc-off: the bare endpoint refuses it; where
        // a framework opens the scope, it is a known limit. npgsql-scope: the driver commits both connections in its two phases.
        new(
            OneUnit: [CleanError], DtcOff: [CleanError], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Once], Outbox: [Once])
        {
            // Without the kit's own two-phase commit, the second connection commits with the first, or autocommits.
            OneUnitOfAnother = [Once],
        });

    public static Fault KillAfterPrepare { get; } = new(
        "kill-after-prepare", "the process is killed after the rows are prepared, before the decision",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]));

    public static Fault KillAfterDecision { get; } = new(
        "kill-after-decision", "the process is killed after the decision, before the second phase",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]));

    public static Fault ScopeTimesOut { get; } = new(
        "scope-times-out", "the handler's transaction times out once, between its two inserts",
        // npgsql-scope: the driver un-enlists the connection, and later writes and sends autocommit; the message is handled again.
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once],
            NpgsqlScope: [Torn, Duplicated, DuplicatedOutgoing], Outbox: [Once]));

    public static Fault ReceiveLost { get; } = new(
        "receive-lost", "the connection to the transport is cut every time the message is being handled",
        // dtc-off: handled as often as the mode allows, each time with its rows; then given up. scope-off: when the connection is cut, a framework
        // can cancel the handler between its inserts; each attempt leaves its inserts behind.
        new(
            OneUnit: [CleanError], DtcOff: [Duplicated, Zombie], ScopeOff: [Torn, Duplicated, Zombie], TransactionsOff: [Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, CleanError], Outbox: [Once]),
        onBroker: row => row with { Outbox = [DuplicatedOutgoing, Once] });

    public static Fault DatabaseAway { get; } = new(
        "database-away", "the database server goes down when 5 % of a drain has been attempted, and comes back after a while",
        new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Torn, Duplicated, Once], TransactionsOff: [Torn, Zombie, Lost, CleanError, Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [DuplicatedOutgoing, Once]),
        onBroker: row => row with { TransactionsOff = [Torn, Zombie, CleanError, Once] })
    {
        Crashes = CrashedServer.OfRows,
    };

    public static Fault NetworkSilent { get; } = new(
        "network-silent", "when 5 % of a drain has been attempted, no byte arrives on any connection of the endpoint for a while; then they resume",
        // The silence is shorter than every time limit: neither side gives the other up.
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault SlotsExhausted { get; } = new(
        "slots-exhausted", "for a while, another application holds every prepared transaction that the server allows",
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [CleanError, Once], Outbox: [Once]));

    public static Fault ServerReadOnly { get; } = new(
        "server-read-only",
        "the database server turns read-only for some seconds while the message is being handled, before its transaction for the rows begins",
        // No row was written, so the next attempt is the first. transactions-off: there is none, and the error queue is on the same server. outbox: a
        // send that was dispatched without the outbox knowing it is dispatched again.
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Lost, CleanError], NpgsqlScope: [Once],
            Outbox: [DuplicatedOutgoing, Once]),
        onBroker: row => row with { TransactionsOff = [CleanError] });

    public static Fault SettingsLeft { get; } = new(
        "settings-left", "before it sends, the handler sets its connection's search path to a schema with tables of the same names, and leaves it so",
        // The endpoint's own statements find its own tables, whatever the handler has set, and so does the next message.
        new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Once], Outbox: [Once]));

    public static Fault SendRefused { get; } = new(
        "send-refused",
        "at the first attempt the handler sends a message that is too large for the broker, which closes the channel; other messages are handled meanwhile",
        // dtc-off, scope-off: the rows have committed before the send fails. transactions-off: and nothing is tried again. outbox: they have committed with
        // the send, which is refused for ever.
        new(
            OneUnit: [Once], DtcOff: [Duplicated], ScopeOff: [Duplicated], TransactionsOff: [Zombie], NpgsqlScope: [Once], Outbox: [Zombie]));

    public static Fault DeadLetterRefused { get; } = new(
        "dead-letter-refused",
        "the handler always throws before its first insert, and for a while the error queue refuses the message; other messages are handled meanwhile",
        // The message stays in its queue until it is stored. transactions-off: it has left its queue, and only the process still has it.
        new(
            OneUnit: [CleanError], DtcOff: [CleanError], ScopeOff: [CleanError], TransactionsOff: [Lost, CleanError], NpgsqlScope: [CleanError],
            Outbox: [CleanError]));

    /// <summary>
    /// Every fault, in the order of reports: handler, process, connections, servers, statements, two-phase commit, ordinary operation.
    /// </summary>
    public static IReadOnlyList<Fault> All { get; } =
    [
        ThrowBeforeInsert, ThrowAfterInsert, Poison, SentTwice,
        KillBeforeCommit, KillBetweenInserts, KillBeforeDispatch, KillAtDispatch, KillBeforeAcknowledgement,
        CutAtCommit, CutAtReceive, RestartDatabase, RestartBroker, RestartBrokerHalfway, RestartBrokerLate,
        LostDeadlock, SwallowedError, FailedCommit, FailedDispatch, LateQueue, ImmediateSend, SecondConnection,
        KillAfterPrepare, KillAfterDecision,
        ScopeTimesOut, ReceiveLost, DatabaseAway, NetworkSilent, SlotsExhausted, ServerReadOnly, SettingsLeft, SendRefused, DeadLetterRefused,
    ];

    /// <summary>Its name on the command line, in files and in reports.</summary>
    public string Name { get; }

    /// <summary>What happens, for the user to read.</summary>
    public string What { get; }

    /// <summary>The classes that a message may end in, for each way in which modes commit, with a queue in a database.</summary>
    internal PromiseRow Promise { get; }

    /// <summary>The same with a broker's queue: acknowledgements and sends are then separate messages.</summary>
    internal PromiseRow PromiseOnBroker { get; }

    /// <summary>The server that crashes, once, during a drain; <see langword="null"/>: none.</summary>
    internal CrashedServer? Crashes { get; private init; }

    public override string ToString() => Name;

    // An acknowledged message that is redelivered is one message more.
    private static PromiseRow Redelivers(PromiseRow row) => row with
    {
        DtcOff = [Duplicated, DuplicatedOutgoing, Once],
        ScopeOff = [Duplicated, DuplicatedOutgoing, Once],
        NpgsqlScope = [Once],
    };
}

/// <summary>A server that a fault makes to crash.</summary>
internal enum CrashedServer
{
    /// <summary>The server with the handler's rows, which can have the queue, too.</summary>
    OfRows,

    /// <summary>The queue's own server.</summary>
    OfQueue,
}
