using Kit.Endpoints.Cells;
using Kit.Handlers;

namespace Kit.Runner.Stage;

/// <summary>A handler that records its attempts, and meets the fault at the chosen message.</summary>
internal interface IExperimentHandler : IAsyncDisposable
{
    /// <summary>Handles one message.</summary>
    Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken);

    /// <summary>The handler of a cell's scenario, or the experiments' own.</summary>
    static IExperimentHandler Of(ExperimentSpec spec, Cell cell) => ScenarioUnderFaults.Of(cell) is { } scenario
        ? new ScenarioHandler(spec, scenario)
        : new ExperimentHandler(spec, cell.Kind);
}
