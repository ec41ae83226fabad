using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds;

/// <summary>Starts the servers of a run, and records what they say of themselves.</summary>
internal sealed class ServerStart(RunPlan plan, RunRecord record, Action<string> note)
{
    /// <summary>Starts a server. If the kit's own does not start, its cells are left out and the others go on.</summary>
    public async Task StartAsync(
        ServersInUse servers, Transport transport, IReadOnlyList<Cell> cells, Action<Cell, string> refuse, CancellationToken cancellationToken)
    {
        var isNamed = transport.IsNamed(plan.Arguments);
        if (!isNamed && transport.Own is { } what)
            note($"Starting {what} of the kit's own.");
        try
        {
            await servers.StartAsync(transport, plan.Arguments.WithConnections(plan.Connections), cancellationToken);
        }
        catch (KitException failure) when (!isNamed && plan.Resumed is null && cells.Any(cell => !transport.Serves(cell)))
        {
            foreach (var cell in cells.Where(transport.Serves).ToList())
                refuse(cell, failure.Message);
        }
    }

    /// <summary>Tells what a user should know of a server, and records its facts.</summary>
    /// <exception cref="KitException">A resumed run had another server.</exception>
    public async Task DescribeAsync(Transport transport, ServerInUse server, CancellationToken cancellationToken)
    {
        foreach (var warning in server.Warnings)
            note(warning);
        foreach (var leftover in await server.RemoveLeftoversAsync(cancellationToken))
            note($"Removed {leftover}, left by a crashed run.");
        if (await server.ReadFactsAsync(cancellationToken) is { } facts)
        {
            record.Save(run =>
            {
                var described = transport.Describe(run, facts);
                plan.Resumed?.Require(described);
                return described;
            });
        }
    }
}
