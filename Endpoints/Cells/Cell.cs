using Kit.Handlers;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>What one row of a comparison measures: a value on each axis of the matrix.</summary>
public sealed record Cell(IEndpointKind Kind, TransactionMode Mode, AccessLibrary Access)
{
    /// <summary>The axes, in the order in which names and tables have them. A new one is an entry here, and its values in <see cref="All"/>.</summary>
    public static IReadOnlyList<Axis> Axes { get; } =
    [
        new("framework", "frameworks", cell => cell.Kind.Framework) { Rule = _ => Support.Yes },
        new("transport", "transports", cell => cell.Kind.Transport) { Rule = _ => Support.Yes },
        // The comparisons are measured when they are named.
        new("mode", "modes", cell => cell.Mode.Name)
        {
            Measured = [.. TransactionMode.Matrix.Select(mode => mode.Name)],
            Rule = cell => cell.Kind.Supports(cell.Mode),
        },
        // The modes are compared with the baseline; access libraries are compared when they are named.
        new("access", "access libraries", cell => cell.Access.Name)
        {
            Measured = [AccessLibrary.Baseline],
            Rule = cell => cell.Access.Support,
        },
    ];

    /// <summary>Every cell that can be named, runnable or not; those of the comparison modes after those of the matrix.</summary>
    public static IReadOnlyList<Cell> All { get; } =
    [
        .. from kind in EndpointKinds.All
           from mode in TransactionMode.All
           from access in AccessLibrary.All
           select new Cell(kind, mode, access),
    ];

    /// <summary>Whether the cell can run, or the first reason why not.</summary>
    public Support Support => Axes.Select(axis => axis.Rule(this)).FirstOrDefault(support => !support.IsSupported) ?? Support.Yes;

    /// <summary>The axes that its name says, and its values on them.</summary>
    public IEnumerable<(string Axis, string Value)> Values =>
        from axis in Axes
        let value = axis.ValueOf(this)
        where !string.Equals(value, axis.Implied, StringComparison.Ordinal)
        select (axis.Name, value);

    /// <summary>Also the name of its queue.</summary>
    public string Name => string.Join('.', Values.Select(value => value.Value));

    /// <summary>What it does with a message: the handler that is measured.</summary>
    public HandleWidget CreateHandler() => new WidgetBuilder(Access.CreateInsert()).BuildAsync;

    /// <summary>What its endpoint is built from.</summary>
    /// <inheritdoc cref="EndpointSettings(string, string, string, TransactionMode, int)" path="/param"/>
    public EndpointSettings EndpointOn(string queue, string transport, string widgets, int concurrency) => new(queue, transport, widgets, Mode, concurrency);

    public override string ToString() => Name;
}
