using Kit.Endpoints.Cells;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds.Joining;

/// <summary>The first line to a handler process on another machine: what it must run, with places on the servers instead of addresses.</summary>
/// <param name="IsTiered">True if it runs with tiered compilation.</param>
internal sealed record WorkerOrder(HandlerSpec Spec, bool IsTiered)
{
    /// <summary>The order for what a process of the runner's machine would have to run.</summary>
    public static WorkerOrder Of(HandlerSpec spec, bool isTiered)
    {
        var (transport, widgets) = RoutesOf(spec);
        return new WorkerOrder(spec with { Transport = transport.PlaceIn(spec.Transport), Widgets = widgets.PlaceIn(spec.Widgets) }, isTiered);
    }

    /// <summary>The specification for a process of a worker's machine.</summary>
    /// <param name="arguments">The servers as that machine reaches them.</param>
    public HandlerSpec SpecWith(TransportArguments arguments)
    {
        var (transport, widgets) = RoutesOf(Spec);
        return Spec with { Transport = transport.AddressOf(arguments, Spec.Transport), Widgets = widgets.AddressOf(arguments, Spec.Widgets) };
    }

    private static (WorkerRoute Transport, WorkerRoute Widgets) RoutesOf(HandlerSpec spec)
    {
        var transport = Transport.Of(Cell.Find(spec.Cell) ?? throw new InvalidOperationException($"There is no cell {spec.Cell}."));
        return (RouteOf(transport), RouteOf(transport.Widgets));
    }

    private static WorkerRoute RouteOf(Transport transport) =>
        transport.WorkerRoute ?? throw new InvalidOperationException($"No worker reaches {transport.Title} on another machine.");
}
