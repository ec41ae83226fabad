using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage;

namespace Kit.Runner.Rounds;

/// <summary>Lets every cell of a run handle a few messages before it is measured, to see that it does what its label says.</summary>
internal sealed class Probing(RunRecord record, ServersAndWorkers servers, Action<string> note)
{
    /// <summary>Probes the cells. One that does not do what its label says, or cannot be probed, is left out.</summary>
    /// <exception cref="KitException">A server refuses what a cell needs, or a cell that has rounds can no longer be probed.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        // Scenarios and conditions do not change what commits with what, and the probe has a handler of its own.
        var probed = record.Cells.ToLookup(cell => cell.Plain);
        note($"Probing what cells really do, before they are measured: {probed.Count}.");
        foreach (var cell in probed.Select(same => same.Key))
        {
            var settings = servers.SettingsOf(cell);
            await using var stage = await ForAsync(
                cell, CellStage.OpenAsync(cell, settings.Queues, settings.Widgets, new StageOptions(StageRows.None), cancellationToken));
            string? because;
            try
            {
                var probe = await CellProbe.RunAsync(
                    cell,
                    cell.EndpointOn(stage.Place.Queue, stage.Place.ForEndpoint, stage.Databases.WidgetsForEndpoint, settings.Sizes.Concurrency),
                    cancellationToken);
                var found = Provenance.OfProbe(cell, probe);
                record.Save(run => run with { Probes = [.. run.Probes.Where(other => other.Cell != found.Cell), found] });
                because = probe.Support.Because is { } reason ? $"its probe disagrees with its label: {reason}" : null;
            }
            catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
            {
                because = $"it could not be probed: {KitException.MessageOf(failure)}";
            }

            if (because is null)
                continue;

            // A cell cannot be measured and left out.
            if (probed[cell].FirstOrDefault(same => record.Rounds.Any(round => round.Cell == Provenance.NameOf(same))) is { } measured)
            {
                throw new KitException(
                    $"{Provenance.NameOf(measured)} has rounds from before the run was stopped, and {because}",
                    "Resume the run again. If it happens again, find out what has changed, or make a new run.");
            }

            foreach (var same in probed[cell])
                record.Refuse(same, because);
        }
    }

    /// <summary>Names the cell in what a server refuses: the run ends with it, and can be resumed.</summary>
    private static async Task<T> ForAsync<T>(Cell cell, Task<T> step)
    {
        try
        {
            return await step;
        }
        catch (KitException refused)
        {
            throw new KitException($"{Provenance.NameOf(cell)}: {refused.Message}", refused.Remedy, refused);
        }
    }
}
