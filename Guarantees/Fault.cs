namespace Kit.Guarantees;

/// <summary>
/// Something that goes wrong while one message is handled, or while a server is needed. The handler that meets it writes two rows and sends
/// one message, so that half-done work shows.
/// </summary>
/// <param name="Name">Its name on the command line, in files and in reports.</param>
/// <param name="What">What happens, for the user to read.</param>
public sealed record Fault(string Name, string What)
{
    public static Fault ThrowBeforeInsert { get; } = new("throw-before-insert", "the handler throws once, before its first insert");

    public static Fault ThrowAfterInsert { get; } = new("throw-after-insert", "the handler throws once, between its two inserts");

    public static Fault Poison { get; } = new("poison", "the handler always throws, between its two inserts");

    public static Fault KillBeforeCommit { get; } = new("kill-before-commit", "the process is killed before the rows commit");

    public static Fault KillBetweenInserts { get; } = new("kill-between-inserts", "the process is killed between the two inserts");

    public static Fault KillBeforeDispatch { get; } = new(
        "kill-before-dispatch",
        "the process is killed after the rows have committed, before the message is sent");

    public static Fault KillAtDispatch { get; } = new(
        "kill-at-dispatch",
        "the process is killed while the handler's message is on its way to the broker; the message does not arrive");

    public static Fault KillBeforeAcknowledgement { get; } =
        new("kill-before-ack", "the process is killed when everything is done except the commit or acknowledgement of the receive");

    public static Fault CutAtCommit { get; } = new("cut-at-commit", "the connection to the rows' database is cut while the answer to the commit is on its way");

    public static Fault CutAtReceive { get; } = new("cut-at-receive", "the connection to the transport is cut while the receive commits or is acknowledged");

    public static Fault RestartDatabase { get; } = new(
        "restart-database", "the database server crashes when 5 % of a drain has been attempted, and restarts");

    public static Fault RestartBroker { get; } =
        new("restart-broker", "the queue's own server, such as a broker, crashes when 5 % of a drain has been attempted, and restarts");

    public static Fault RestartBrokerHalfway { get; } =
        new("restart-broker-halfway", "the queue's own server, such as a broker, crashes when half of a drain has been attempted, and restarts");

    public static Fault RestartBrokerLate { get; } =
        new("restart-broker-late", "the queue's own server, such as a broker, crashes when 90 % of a drain has been attempted, and restarts");

    public static Fault SentTwice { get; } = new("sent-twice", "the message is in the queue twice with the same id, and two workers have it at the same time");

    public static Fault LostDeadlock { get; } = new("lost-deadlock", "a statement between the two inserts becomes the victim of a deadlock");

    public static Fault SwallowedError { get; } = new("swallowed-error", "the second insert fails; the handler catches the error and continues");

    public static Fault FailedCommit { get; } = new("failed-commit", "the commit of the first row fails once, because of a deferred constraint");

    public static Fault FailedDispatch { get; } = new("failed-dispatch", "the queue that the handler sends to does not exist");

    public static Fault LateQueue { get; } =
        new("late-queue", "the queue that the handler sends to is created only after the message has been handled or given up");

    public static Fault ImmediateSend { get; } = new("immediate-send", "the handler sends without using its endpoint, and then always throws");

    public static Fault SecondConnection { get; } =
        new("second-connection", "the handler opens a second connection, in the ambient transaction if there is one, and makes its second insert on it");

    public static Fault KillAfterPrepare { get; } = new("kill-after-prepare", "the process is killed after the rows are prepared, before the decision");

    public static Fault KillAfterDecision { get; } = new("kill-after-decision", "the process is killed after the decision, before the second phase");

    public static Fault ScopeTimesOut { get; } = new("scope-times-out", "the handler's transaction times out once, between its two inserts");

    public static Fault ReceiveLost { get; } = new("receive-lost", "the connection to the transport is cut every time the message is being handled");

    public static Fault DatabaseAway { get; } = new(
        "database-away", "the database server goes down when 5 % of a drain has been attempted, and comes back after a while");

    public static Fault NetworkSilent { get; } = new(
        "network-silent",
        "when 5 % of a drain has been attempted, no byte arrives on any connection of the endpoint for a while; then they resume");

    public static Fault SlotsExhausted { get; } = new(
        "slots-exhausted",
        "for a while, another application holds every prepared transaction that the server allows");

    public static Fault ServerReadOnly { get; } = new(
        "server-read-only",
        "the database server turns read-only for some seconds while the message is being handled, before its transaction for the rows begins");

    public static Fault SettingsLeft { get; } = new(
        "settings-left",
        "before it sends, the handler sets its connection's search path to a schema with tables of the same names, and leaves it so");

    public static Fault SendRefused { get; } = new(
        "send-refused",
        "at the first attempt the handler sends a message that is too large for the broker, which closes the channel; other messages are handled meanwhile");

    public static Fault DeadLetterRefused { get; } = new(
        "dead-letter-refused",
        "the handler always throws before its first insert, and for a while the error queue refuses the message; other messages are handled meanwhile");

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

    public override string ToString() => Name;
}
