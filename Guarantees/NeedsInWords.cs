namespace Kit.Guarantees;

/// <summary>The answers to the questions about a handler: on the command line, on a terminal, on a page and in the picture of the choice.</summary>
public static class NeedsInWords
{
    /// <summary>The places of its rows.</summary>
    public static IReadOnlyList<Answer<RowsPlace>> Places { get; } =
    [
        new("same-database", "in the queue's database", RowsPlace.SameDatabase),
        new("same-server", "in another database of the queue's server", RowsPlace.SameServer),
        new("another-server", "on another server of the same kind", RowsPlace.AnotherServer),
        new("elsewhere", "in another kind of database, or the queue is on a broker", RowsPlace.Elsewhere),
    ];

    /// <summary>A warning about calls to other systems.</summary>
    public static string CallsOutside =>
        "No mode takes back a call to another system (HTTP, e-mail). It is made again when the message is handled again, and can stay made when the message " +
        "is lost. Let the other system discard a message's id that it knows.";

    /// <summary>The bearable effects of a crash.</summary>
    public static IReadOnlyList<Answer<Tolerance>> Tolerances { get; } =
    [
        new("once", "its rows are written exactly once", Tolerance.Once),
        new("twice", "it is handled again, by an idempotent handler", Tolerance.Twice),
        new("twice-one-statement", "it is handled again, by an idempotent handler of one statement", Tolerance.TwiceInOneStatement),
        new("loss", "it is lost, or half done", Tolerance.Loss),
    ];
}
