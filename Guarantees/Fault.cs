namespace Kit.Guarantees;

/// <summary>
/// Something that goes wrong while one message is handled, or while a server is needed. The handler that meets it writes two rows and sends
/// one message, so that work that is half done shows.
/// </summary>
/// <param name="Name">Its name on the command line, in files and in reports.</param>
/// <param name="What">What happens, in words for a user.</param>
public sealed record Fault(string Name, string What)
{
    public static Fault ThrowBeforeInsert { get; } = new("throw-before-insert", "the handler throws once, before its first insert");

    public static Fault ThrowAfterInsert { get; } = new("throw-after-insert", "the handler throws once, between its two inserts");

    public static Fault Poison { get; } = new("poison", "the handler always throws, between its two inserts");

    public static Fault KillBeforeCommit { get; } = new("kill-before-commit", "the process is killed before the rows commit");

    public static Fault KillBetweenInserts { get; } = new("kill-between-inserts", "the process is killed between the two inserts");

    public static Fault KillBeforeDispatch { get; } = new(
        "kill-before-dispatch",
        "the process is killed when the rows have committed, before the message is sent");

    public static Fault KillAtDispatch { get; } = new(
        "kill-at-dispatch",
        "the process is killed while the handler's message is on its way to the broker, and does not arrive");

    public static Fault KillBeforeAcknowledgement { get; } =
        new("kill-before-ack", "the process is killed before the receive is acknowledged or commits, when all else is done");

    public static Fault CutAtCommit { get; } = new("cut-at-commit", "the connection to the rows' database is cut while the answer to the commit is on its way");

    public static Fault CutAtReceive { get; } = new("cut-at-receive", "the connection to the transport is cut while the receive commits or is acknowledged");

    public static Fault RestartDatabase { get; } = new(
        "restart-database", "the database server crashes when 5 % of a drain has been attempted, and starts again");

    public static Fault RestartBroker { get; } = new("restart-broker", "the message broker crashes when 5 % of a drain has been attempted, and starts again");

    public static Fault RestartBrokerHalfway { get; } =
        new("restart-broker-halfway", "the message broker crashes when half of a drain has been attempted, and starts again");

    public static Fault RestartBrokerLate { get; } =
        new("restart-broker-late", "the message broker crashes when 90 % of a drain has been attempted, and starts again");

    public static Fault SentTwice { get; } = new("sent-twice", "the message is in the queue twice, with one id, and two workers have it at the same time");

    public static Fault LostDeadlock { get; } = new("lost-deadlock", "a statement between the two inserts becomes the victim of a deadlock");

    public static Fault SwallowedError { get; } = new("swallowed-error", "the second insert fails; the handler catches the error and goes on");

    public static Fault FailedCommit { get; } = new("failed-commit", "the commit of the first row fails once, by a deferred constraint");

    public static Fault FailedDispatch { get; } = new("failed-dispatch", "the queue that the handler sends to does not exist");

    public static Fault LateQueue { get; } =
        new("late-queue", "the queue that the handler sends to is created only when the message has been handled or given up");

    public static Fault ImmediateSend { get; } = new("immediate-send", "the handler sends past its endpoint, and then always throws");

    public static Fault SecondConnection { get; } =
        new("second-connection", "the handler opens a second connection, in the ambient transaction where there is one, and makes its second insert on it");

    public static Fault KillAfterPrepare { get; } = new("kill-after-prepare", "the process is killed when the rows are prepared, before the decision");

    public static Fault KillAfterDecision { get; } = new("kill-after-decision", "the process is killed when the decision is made, before the second phase");

    public static Fault ScopeTimesOut { get; } = new("scope-times-out", "the handler's transaction times out between its two inserts, once");

    public static Fault ReceiveLost { get; } = new("receive-lost", "the connection to the transport is cut whenever the message is being handled");

    public static Fault DatabaseAway { get; } = new(
        "database-away", "the database server goes away when 5 % of a drain has been attempted, and comes back after a while");

    public static Fault NetworkSilent { get; } = new(
        "network-silent",
        "no byte arrives on any connection of the endpoint for a while, when 5 % of a drain has been attempted, and then all go on");

    public static Fault SlotsExhausted { get; } = new(
        "slots-exhausted",
        "another application holds every prepared transaction that the server allows, for a while");

    /// <summary>
    /// Every fault, in the order of reports: of the handler, of the process, of connections, of servers, of statements,
    /// of two-phase commit, of ordinary operation.
    /// </summary>
    public static IReadOnlyList<Fault> All { get; } =
    [
        ThrowBeforeInsert, ThrowAfterInsert, Poison, SentTwice,
        KillBeforeCommit, KillBetweenInserts, KillBeforeDispatch, KillAtDispatch, KillBeforeAcknowledgement,
        CutAtCommit, CutAtReceive, RestartDatabase, RestartBroker, RestartBrokerHalfway, RestartBrokerLate,
        LostDeadlock, SwallowedError, FailedCommit, FailedDispatch, LateQueue, ImmediateSend, SecondConnection,
        KillAfterPrepare, KillAfterDecision,
        ScopeTimesOut, ReceiveLost, DatabaseAway, NetworkSilent, SlotsExhausted,
    ];

    public override string ToString() => Name;
}
