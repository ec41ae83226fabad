using Kit.Guarantees;

namespace Kit.Runner.Choosing;

/// <summary>The answers to the questions about a handler: on the command line, on a terminal and on a page.</summary>
internal static class NeedsInWords
{
    public static IReadOnlyList<Answer<RowsPlace>> Places { get; } =
    [
        new("same-database", "in the queue's database", RowsPlace.SameDatabase),
        new("same-server", "in another database of the queue's server", RowsPlace.SameServer),
        new("elsewhere", "on another server, or the queue is on a broker", RowsPlace.Elsewhere),
    ];

    public static string CallsOutside =>
        "No mode takes back a call to another system (HTTP, e-mail). It is made again when the message is handled again, and can stay made when the message " +
        "is lost. Let the other system discard a message's id that it knows.";

    public static IReadOnlyList<Answer<Tolerance>> Tolerances { get; } =
    [
        new("once", "its rows are written exactly once", Tolerance.Once),
        new("twice", "it is handled again", Tolerance.Twice),
        new("twice-one-statement", "it is handled again, and the handler has one statement", Tolerance.TwiceInOneStatement),
        new("loss", "it is lost, or half done", Tolerance.Loss),
    ];
}
