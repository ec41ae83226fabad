using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>
/// The cells whose handlers' sends the broker keeps in memory alone, because their framework does so in that mode: a restart of the broker loses them. Others
/// of the same mode write each send to disk, so that their speeds are those of different work.
/// </summary>
public static class SendsInMemory
{
    /// <summary>Framework, transport and mode.</summary>
    public static IReadOnlyList<(string Framework, string Transport, TransactionMode Mode)> All { get; } =
        [("wolverine", "rabbitmq", TransactionMode.ScopeOff)];

    /// <summary>True if what a handler sends there is not persistent.</summary>
    public static bool Are(string framework, string transport, string mode) =>
        All.Any(cell => (cell.Framework, cell.Transport, cell.Mode.Name) == (framework, transport, mode));
}
