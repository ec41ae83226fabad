using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Loads;

/// <summary>All loads of one command. Each result is saved at once.</summary>
/// <param name="between">Time between reports of the progress: 1 s or longer.</param>
/// <param name="tell">Receives it.</param>
/// <param name="ended">Receives each result.</param>
internal sealed class LoadRun(LoadPlan plan, TimeSpan between, Action<CellName, LoadProgress> tell, Action<LoadResult, LoadSettings> ended)
{
    private readonly LoadFolder folder = new(plan.Folder);
    private readonly LoadSettings settings = SettingsOf(plan);

    /// <summary>Runs them, or those until it is stopped.</summary>
    /// <exception cref="KitException">A server does not start, or the folder cannot be written.</exception>
    /// <exception cref="OperationCanceledException">It was stopped before the first message was sent. Nothing was saved.</exception>
    public async Task<LoadDocument> RunAsync(CancellationToken stop)
    {
        var document = new LoadDocument
        {
            CommandLine = plan.CommandLine,
            StartedUtc = DateTimeOffset.UtcNow,
            Commit = await WorkTree.CommitAsync(stop),
            Implied = Provenance.ImpliedAt(plan.Concurrency),
            Host = Provenance.OfHost(),
            Packages = Provenance.Packages(),
            Settings = settings,
            LeftOut = [.. Provenance.LeftOut(plan.Cells, plan.SupportOf)],
            // Until the last load has ended: the process can die before.
            IsStopped = true,
        };
        await using var servers = await ServersInUse.StartAsync(Transport.NeededBy(plan.Runnable.Select(Transport.Of)), stop, plan.Servers);
        document = document with
        {
            Servers = servers.Versions,
            Disk = servers.MeasureDisk(),
        };
        foreach (var database in plan.Runnable.Select(servers.WidgetsOf).Distinct())
            await database.SeedAsync(plan.SeedRows, new Progress<int>(), stop);

        try
        {
            foreach (var cell in plan.Runnable)
            {
                await RateSearch.LoadAsync(
                    plan.Shapes, plan.Length, plan.LimitMilliseconds, plan.Shares, (shape, share) => TryAsync(cell, shape, share));
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested && document.Results.Count > 0)
        {
            return document;
        }

        document = document with { IsStopped = false };
        folder.Save(document);
        return document;

        async Task<LoadResult> TryAsync(Cell cell, LoadShape shape, double? share)
        {
            stop.ThrowIfCancellationRequested();
            var loaded = new LoadedCell(plan, cell, servers, between, progress => tell(Provenance.NameOf(cell), progress), folder.Append);
            var result = await loaded.RunAsync(shape, stop) with { ShareOfFound = share };
            document = document with { Results = [.. document.Results, result] };
            // First it is told: a disk can be full.
            ended(result, settings);
            folder.Save(document);
            stop.ThrowIfCancellationRequested();
            if (!result.Outcome.IsValid())
                servers.ThrowIfEnded("Loads before that are kept; load the others again.", string.Join("; ", result.Outcome.Reasons));
            return result;
        }
    }

    private static LoadSettings SettingsOf(LoadPlan plan)
    {
        var users = plan.Shapes.OfType<ClosedLoad>().FirstOrDefault();
        return new LoadSettings(plan.Length.TotalSeconds, plan.Concurrency, plan.SeedRows, plan.WarmUp, plan.Senders, plan.LimitMilliseconds)
        {
            TimeoutSeconds = users?.Timeout.TotalSeconds,
            ThinkMilliseconds = users?.Think.TotalMilliseconds,
            RampSeconds = users?.Ramp.TotalSeconds,
            SnapshotFromSeconds = plan.HeldSnapshot?.From.TotalSeconds,
            SnapshotToSeconds = plan.HeldSnapshot?.To.TotalSeconds,
        };
    }
}
