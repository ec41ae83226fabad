using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>The whole of what is promised, to be read: what is written there is what every cell is held to.</summary>
public static class PromiseText
{
    private static readonly int Width = Fault.All.Max(fault => fault.Name.Length) + 2;

    /// <param name="modes">Whose promises.</param>
    /// <param name="output">Gets a line for each fault, and one for what holds always.</param>
    public static void Write(IEnumerable<TransactionMode> modes, TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(modes);
        ArgumentNullException.ThrowIfNull(output);
        output.WriteLine("Under each fault, the classes that a message may be of: a/b is a or b. Where a cell has no such moment, nothing is tried.");
        output.WriteLine(
            "'always' is what holds in a storm of kills and cuts at any moment. docs/guarantees-tables.md explains the classes, list --faults the faults.");
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
        Reach.Handled => ", and for each kill or cut at most the messages that were being handled are not once",
        Reach.HandledAndNext =>
            ", and for each kill or cut at most the messages that were being handled, and for each cut the next of each handler, are not once",
        Reach.HandledOrSent => ", and for each kill or cut at most the messages that were being handled or sent are not once",
        Reach.Pushed => ", and for each kill or cut at most the messages that the broker had pushed are not once",
        Reach.Unbounded => ", in any number",
        _ => throw new NotSupportedException($"Nobody has said what '{reach}' is."),
    };
}
