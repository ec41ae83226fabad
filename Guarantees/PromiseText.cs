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
        foreach (var mode in modes)
        {
            output.WriteLine(mode.Name);
            foreach (var fault in Fault.All)
            {
                var table = Words.Of(FaultPromise.Of(fault, mode, isBroker: false));
                var broker = Words.Of(FaultPromise.Of(fault, mode, isBroker: true));
                output.WriteLine($"  {fault.Name.PadRight(Width)}{table}{(table == broker ? "" : $"; with a broker {broker}")}");
            }

            output.WriteLine($"  {"always".PadRight(Width)}{Words.Of(FaultPromise.Always(mode))}");
        }
    }
}
