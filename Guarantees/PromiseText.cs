using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>Writes all promises, for the user to read. Every cell is judged by them.</summary>
public static class PromiseText
{
    private static readonly int Width = Fault.All.Max(fault => fault.Name.Length) + 2;

    /// <param name="modes">The modes whose promises are written.</param>
    /// <param name="output">Receives a line for each fault, and one for what always holds.</param>
    public static void Write(IEnumerable<TransactionMode> modes, TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(modes);
        ArgumentNullException.ThrowIfNull(output);
        output.WriteLine("The classes that a message may end in under each fault: a/b means a or b. A cell that has no such moment skips the fault.");
        output.WriteLine(
            "'always' holds in a storm of kills and cuts at any moment. A crash of a PostgreSQL server affects no more messages than a cut there, a crash " +
            "of a broker any number. docs/reference/guarantees.md explains the classes, list --faults the faults.");
        output.WriteLine(
            "They hold at every setting of --flush and --batch. With fewer flushes, what others saw of a commit that did not wait can vanish when the " +
            "server crashes. In batches, a handler has all messages of its batch.");
        foreach (var mode in modes)
        {
            output.WriteLine();
            output.WriteLine(mode.Name);
            foreach (var fault in Fault.All)
            {
                var table = Words.Of(FaultPromise.Of(fault, mode, isBroker: false));
                var broker = Words.Of(FaultPromise.Of(fault, mode, isBroker: true));
                output.WriteLine($"  {fault.Name.PadRight(Width)}{table}{(table == broker ? "" : $"; with a broker {broker}")}");
            }

            var (always, onBroker) = (TextOf(FaultPromise.Always(mode, isBroker: false)), TextOf(FaultPromise.Always(mode, isBroker: true)));
            output.WriteLine($"  {"always".PadRight(Width)}{always}{(always == onBroker ? "" : $"; with a broker {onBroker}")}");
        }
    }

    private static string TextOf(StormPromise promise) =>
        $"{Words.Of(promise.Classes)}{TextOf(promise.Reach)}";

    private static string TextOf(Reach reach) => reach switch
    {
        Reach.None => "",
        Reach.Handled => ", and each kill or cut affects at most the messages that were being handled",
        Reach.Pushed => ", and each kill or cut affects at most the messages that the broker had pushed",
        Reach.HandledAndNext =>
            ", and each kill or cut affects at most the messages that were being handled; a cut also affects the next message of each handler",
        Reach.HandledOrSent => ", and each kill or cut affects at most the messages that were being handled or sent",
        Reach.Unbounded => ", in any number",
        _ => throw new NotSupportedException($"There is no text for reach '{reach}'."),
    };
}
