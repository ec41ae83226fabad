using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Choosing;

/// <summary>The mode for a handler on one framework and transport.</summary>
/// <param name="Kind">The framework on the transport. If this build lacks it, there is no advice.</param>
/// <param name="Cell">
/// The advised cell; <see langword="null"/> if no mode there gives the handler what it needs. The mode may need a package that this build lacks, or
/// another operating system.
/// </param>
/// <param name="LeftOut">Modes that fit better, and the reasons why they cannot run there.</param>
internal sealed record Advice(IEndpointKind Kind, Cell? Cell, IReadOnlyList<(TransactionMode Mode, string Because)> LeftOut)
{
    /// <summary>The transport of <see cref="Kind"/>.</summary>
    public Transport Transport { get; } = Transport.Named(Kind.Transport);

    /// <summary>The classes that a message may be in after kills and cuts at any moment; empty without a cell.</summary>
    public IReadOnlySet<DeliveryClass> AfterCrashes => Cell is null
        ? new HashSet<DeliveryClass>()
        : FaultPromise.Always(Cell.Mode, Transport.IsBroker).Classes;

    /// <summary>The commands that would refute it; empty if no experiment of the kit can.</summary>
    public IReadOnlyList<string> Experiments => Cell is { } cell && FaultPlan.SupportAnywhere(cell).IsSupported
        ? [$"./run.sh faults {NamesOf(cell)} --mode {cell.Mode}", $"./run.sh faults --storm {NamesOf(cell)} --mode {cell.Mode}"]
        : [];

    /// <summary>The cell as <see cref="NamesOf"/> and the code name it, whatever its handler does; <see langword="null"/> without a cell.</summary>
    public CellName? Name => Cell is { } cell ? Provenance.NameOf(AsInCode(cell)) : null;

    /// <summary>The options that name a cell's framework and transport, and the choices that the code sets, where a framework offers them.</summary>
    public static string NamesOf(Cell cell) =>
        $"--framework {cell.Kind.Framework} --transport {cell.Kind.Transport}"
        + (cell.Kind.CanDeadLetterNext ? $" --{Axis.DeadLetter.Name} {Axis.DeadLetter.ValueOf(AsInCode(cell))}" : "")
        + (cell.Kind.CanPollOften ? $" --{Axis.Polling.Name} {Axis.Polling.ValueOf(AsInCode(cell))}" : "");

    /// <summary>The advice for each framework and transport among some cells.</summary>
    public static IReadOnlyList<Advice> For(IEnumerable<Cell> cells, HandlerNeeds needs) =>
    [
        .. from cell in cells
           where cell.IsPlain && cell.Access.Name == Handlers.AccessLibrary.Baseline
           group cell by cell.Kind into kind
           select For(kind.Key, [.. kind], needs),
    ];

    private static Cell AsInCode(Cell cell) => cell with { DeadLettersNext = cell.Kind.CanDeadLetterNext, PollsOften = cell.Kind.CanPollOften };

    private static Advice For(IEndpointKind kind, IReadOnlyList<Cell> cells, HandlerNeeds needs)
    {
        if (!kind.InBuild.IsSupported)
            return new Advice(kind, Cell: null, []);

        var leftOut = new List<(TransactionMode, string)>();
        foreach (var mode in ModeChoice.Of(needs))
        {
            var cell = cells.First(cell => cell.Mode == mode);
            if (WhyNot(cell, needs) is not { } because)
                return new Advice(kind, cell, leftOut);

            leftOut.Add((mode, because));
        }

        return new Advice(kind, Cell: null, leftOut);
    }

    // What this build or machine lacks can be there where the handler runs.
    private static string? WhyNot(Cell cell, HandlerNeeds needs) => cell.Support is { IsSupported: false, IsMissing: false } never
        ? never.Because
        : Transport.Of(cell).SupportOf(cell.Mode, needs).Because;
}
