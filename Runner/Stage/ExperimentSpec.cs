using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>The fault in the handler of an experiment, at the chosen message; all others are handled without a fault.</summary>
internal enum Behaviour
{
    Succeeds,

    /// <summary>Throws before its first insert, only at the first attempt.</summary>
    ThrowsBeforeInsert,

    /// <summary>Throws before its first insert, at every attempt.</summary>
    AlwaysThrowsBeforeInsert,

    /// <summary>Throws between its two inserts, only at the first attempt.</summary>
    ThrowsAfterInsert,

    /// <summary>Throws between its two inserts, at every attempt.</summary>
    AlwaysThrows,

    /// <summary>Stops at <see cref="ExperimentSpec.ParksAt"/> and waits to be killed.</summary>
    Parks,

    /// <summary>Becomes the victim of a deadlock between its two inserts, only at the first attempt, and does not catch the error.</summary>
    Deadlocks,

    /// <summary>Its second insert fails, only at the first attempt; it catches the error and goes on.</summary>
    SwallowsAnError,

    /// <summary>Sends to a queue that does not exist, at every attempt.</summary>
    SendsToNowhere,

    /// <summary>Waits between its two inserts until its transaction has timed out, only at the first attempt, and goes on.</summary>
    OutlivesItsTransaction,

    /// <summary>Waits between its two inserts until the runner has cut the connection of the receive, at every attempt, and goes on.</summary>
    WaitsForACut,

    /// <summary>Sends to <see cref="ExperimentSpec.LateSink"/>, which does not exist yet, at every attempt.</summary>
    SendsToLateQueue,

    /// <summary>Bypasses its endpoint and sends directly to the sink, then throws before its first insert, at every attempt.</summary>
    SendsAtOnceAndThrows,

    /// <summary>
    /// Does its second insert on a connection that it opens itself, in the ambient transaction if there is one, at every attempt.
    /// </summary>
    OpensASecondConnection,

    /// <summary>
    /// Waits between its two inserts until another attempt at the message has begun, or a session waits for this one to commit; only at the first
    /// attempt, and with a time limit.
    /// </summary>
    WaitsForItsCopy,

    /// <summary>Waits before it asks for its connection, only at the first attempt, until the runner lets it go on.</summary>
    WaitsForTheServer,

    /// <summary>
    /// After its inserts, at every attempt, sets the search path of its transaction and of its session to <see cref="ExperimentSpec.Decoys"/>, and goes on.
    /// </summary>
    LeavesSettings,

    /// <summary>Sends a message with <see cref="ExperimentSpec.TooLarge"/> instead of its own, only at the first attempt.</summary>
    SendsTooMuch,
}

/// <summary>The specification of an experiment's handler, in addition to the <see cref="HandlerSpec"/>. The addresses bypass every proxy.</summary>
/// <param name="Journal">Path of the <see cref="AttemptJournal"/>.</param>
/// <param name="Sink">The queue that the handler sends to.</param>
/// <param name="Transport">Connection string of the transport.</param>
/// <param name="Widgets">Connection string of the widgets' database.</param>
/// <param name="Chosen">The message that meets the fault.</param>
/// <param name="ParksAt">The point at which <see cref="Behaviour.Parks"/> stops.</param>
internal sealed record ExperimentSpec(
    string Journal, string Sink, string Transport, string Widgets, Guid Chosen, Behaviour Behaviour,
    AttemptPoint ParksAt = AttemptPoint.Started)
{
    /// <summary>The timeout of transactions that a handler is to outlive.</summary>
    public static TimeSpan ShortTransaction { get; } = TimeSpan.FromSeconds(2);

    /// <summary>Waiting time of that handler.</summary>
    public static TimeSpan LongerThanThat { get; } = TimeSpan.FromSeconds(3);

    /// <summary>Time limit of a handler that waits for the other copy of its message.</summary>
    public static TimeSpan ForACopy { get; } = TimeSpan.FromSeconds(20);

    /// <summary>The largest message, in bytes, that a broker takes under <see cref="Behaviour.SendsTooMuch"/>: far more than any other message has.</summary>
    public const int LargestMessage = 256 * 1_024;

    /// <summary>The letters of a message that is larger.</summary>
    public const int TooLarge = 2 * LargestMessage;

    /// <summary>The schema that <see cref="Behaviour.LeavesSettings"/> leaves in front of the others.</summary>
    public const string Decoys = "decoys";

    /// <summary>The handler's work for each message.</summary>
    public HandlerShape Shape { get; init; } = HandlerShape.OfExperiments;

    /// <summary>The queue that <see cref="Behaviour.SendsToLateQueue"/> sends to.</summary>
    public string LateSink => LateSinkOf(Sink);

    public static string LateSinkOf(string sink) => $"{sink}-late";

    /// <summary>The file that tells an attempt that its connection was cut.</summary>
    public static string CutMark(string journal, Guid attempt) => $"{journal}.{attempt:N}.cut";

    /// <summary>The file that releases every attempt that waits for the runner.</summary>
    public static string GoOnMark(string journal) => $"{journal}.go-on";
}
