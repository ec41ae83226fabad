using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Runner.Choosing;

/// <summary>The mode for a handler on one framework and transport.</summary>
/// <param name="Framework">The framework.</param>
/// <param name="Transport">The transport.</param>
/// <param name="Cell">What to take; <see langword="null"/> if no mode there gives the handler what it needs.</param>
/// <param name="LeftOut">The modes that would have come before, and why they cannot run there.</param>
internal sealed record Advice(string Framework, string Transport, Cell? Cell, IReadOnlyList<(TransactionMode Mode, string Because)> LeftOut)
{
    /// <summary>The classes that a message may be in after kills and cuts at any moment; empty without a cell.</summary>
    public IReadOnlySet<DeliveryClass> AfterCrashes => Cell is null
        ? new HashSet<DeliveryClass>()
        : FaultPromise.Always(Cell.Mode, Transports.Transport.Of(Cell).IsBroker).Classes;

    /// <summary>The advice for each framework and transport among some cells.</summary>
    /// <param name="cells">The cells, of every mode.</param>
    /// <param name="needs">What the handler needs.</param>
    public static IReadOnlyList<Advice> For(IEnumerable<Cell> cells, HandlerNeeds needs) =>
    [
        .. from cell in cells
           where cell.IsPlain && cell.Access == Handlers.AccessLibrary.All[0]
           group cell by (cell.Kind.Framework, cell.Kind.Transport) into kind
           select For(kind.Key.Framework, kind.Key.Transport, [.. kind], needs),
    ];

    private static Advice For(string framework, string transport, IReadOnlyList<Cell> cells, HandlerNeeds needs)
    {
        var leftOut = new List<(TransactionMode, string)>();
        foreach (var mode in ModeChoice.Of(needs))
        {
            var cell = cells.First(cell => cell.Mode == mode);
            if (cell.Support.IsSupported)
                return new Advice(framework, transport, cell, leftOut);

            leftOut.Add((mode, cell.Support.Because!));
        }

        return new Advice(framework, transport, Cell: null, leftOut);
    }
}
