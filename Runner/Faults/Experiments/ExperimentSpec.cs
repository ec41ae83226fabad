using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Faults.Experiments;

/// <summary>What the handler of an experiment does with the message that was chosen; all others it handles without a fault.</summary>
internal enum Behaviour
{
    Succeeds,

    /// <summary>Throws before its first insert, at the first attempt alone.</summary>
    ThrowsBeforeInsert,

    /// <summary>Throws between its two inserts, at the first attempt alone.</summary>
    ThrowsAfterInsert,

    /// <summary>Throws between its two inserts, whenever it is attempted.</summary>
    AlwaysThrows,

    /// <summary>Stops at <see cref="ExperimentSpec.ParksAt"/> and waits to be killed.</summary>
    Parks,

    /// <summary>Between its two inserts becomes the victim of a deadlock, at the first attempt alone, and lets the error through.</summary>
    Deadlocks,

    /// <summary>Its second insert fails, at the first attempt alone; it catches the error and goes on.</summary>
    SwallowsAnError,

    /// <summary>Sends to a queue that does not exist, whenever it is attempted.</summary>
    SendsToNowhere,

    /// <summary>Waits between its two inserts until its transaction has timed out, at the first attempt alone, and goes on.</summary>
    OutlivesItsTransaction,

    /// <summary>Waits between its two inserts until the runner has cut the connection of the receive, whenever it is attempted, and goes on.</summary>
    WaitsForACut,

    /// <summary>Sends to <see cref="ExperimentSpec.LateSink"/>, which does not exist yet, whenever it is attempted.</summary>
    SendsToLateQueue,

    /// <summary>Sends past its endpoint, straight to the sink, and then throws before its first insert, whenever it is attempted.</summary>
    SendsAtOnceAndThrows,

    /// <summary>
    /// Makes its second insert on a connection that it opens by itself, in the ambient transaction where there is one, whenever it is attempted.
    /// </summary>
    OpensASecondConnection,

    /// <summary>
    /// Waits between its two inserts until another attempt at the message has begun, or a session waits for this one to commit; at the first attempt
    /// alone, and not for ever.
    /// </summary>
    WaitsForItsCopy,
}

/// <summary>
/// What the handler process of an experiment must know as well as its <see cref="Rounds.HandlerSpec"/>. The addresses lead past every proxy.
/// </summary>
/// <param name="Journal">Path of the <see cref="AttemptJournal"/>.</param>
/// <param name="Sink">The queue that the handler sends to.</param>
/// <param name="Transport">Connection string of the transport.</param>
/// <param name="Widgets">Connection string of the widgets' database.</param>
/// <param name="Chosen">The message that meets the fault.</param>
/// <param name="Behaviour">What is done with it.</param>
/// <param name="ParksAt">Where <see cref="Behaviour.Parks"/> stops.</param>
internal sealed record ExperimentSpec(
    string Journal, string Sink, string Transport, string Widgets, Guid Chosen, Behaviour Behaviour,
    AttemptPoint ParksAt = AttemptPoint.Started)
{
    /// <summary>How long the transactions of handlers last that are to be outlived.</summary>
    public static TimeSpan ShortTransaction { get; } = TimeSpan.FromSeconds(2);

    /// <summary>How long their handlers wait.</summary>
    public static TimeSpan LongerThanThat { get; } = TimeSpan.FromSeconds(3);

    /// <summary>How long a handler waits for the other copy of its message.</summary>
    public static TimeSpan ForACopy { get; } = TimeSpan.FromSeconds(20);

    /// <summary>The queue that <see cref="Behaviour.SendsToLateQueue"/> sends to.</summary>
    public string LateSink => LateSinkOf(Sink);

    public static string LateSinkOf(string sink) => $"{sink}-late";

    /// <summary>The file that tells an attempt that its connection was cut.</summary>
    public static string CutMark(string journal, Guid attempt) => $"{journal}.{attempt:N}.cut";

    /// <summary>The file that tells every attempt that no connection is cut any more.</summary>
    public static string NoMoreCutsMark(string journal) => $"{journal}.no-more-cuts";
}
