using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Meets the points of every cell of one command, on private servers. Each result is saved at once.</summary>
/// <param name="tell">Receives each result, the number of results so far and the number planned for its cell.</param>
/// <param name="say">Receives a line about each cell.</param>
internal sealed class EveryPointRun(FaultPlan plan, Action<FaultResult, int, int> tell, Action<string> say)
{
    private readonly EveryPointPlan points = plan.EveryPoint ?? throw new ArgumentException("The plan meets no points.", nameof(plan));
    private ServersInUse? servers;

    /// <summary>Makes the experiments that the folder does not have yet, and writes the reports, even if it is stopped.</summary>
    /// <exception cref="KitException">
    /// Nothing can run, a server does not start, an undisturbed message is not handled, there is no such point, or the folder cannot be written or read.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was stopped; finished experiments are saved.</exception>
    public async Task<FaultRecord> RunAsync(CancellationToken cancellationToken)
    {
        using var claim = FolderClaim.TakeOrCreate(plan.Folder);
        var record = await FaultRecord.OpenAsync(plan, tell, cancellationToken);
        record.Save(document => document.With(points.Ways));
        // What --only names can be no point: then nothing is outstanding.
        if (points.Only is not { Count: > 0 })
            record.BeginCells(plan.Runnable.Select(NameOf));
        try
        {
            foreach (var cell in plan.Runnable)
                await MakeAsync(record, cell, await RecordAsync(record, cell, cancellationToken), cancellationToken);
        }
        finally
        {
            if (servers is not null)
                await servers.DisposeAsync();
            record.WriteReports();
        }

        return record;
    }

    private async Task<IReadOnlyList<CrashPoint>> RecordAsync(FaultRecord record, Cell cell, CancellationToken cancellationToken)
    {
        var known = record.Document.Points ?? new Dictionary<string, IReadOnlyList<CrashPoint>>();
        var name = NameOf(cell);
        if (!known.TryGetValue(name, out var recorded))
        {
            var own = await ServersAsync(cancellationToken);
            var found = await new EveryPoint(cell, own).RecordAsync(cancellationToken);
            recorded = found.Points;
            foreach (var notTried in RecordedPoints.NotTried(found.Rare, found.Late, found.Unused))
                say($"{name}: {notTried}");
            record.Save(own);
            record.Save(document => document with
            {
                Points = new Dictionary<string, IReadOnlyList<CrashPoint>>(known) { [name] = recorded },
            });
        }

        say($"{name}: {recorded.Count} points, {recorded.Sum(point => point.WaysAmong(points.Ways).Count)} experiments");
        return recorded;
    }

    private async Task MakeAsync(FaultRecord record, Cell cell, IReadOnlyList<CrashPoint> recorded, CancellationToken cancellationToken)
    {
        var todo = Chosen(record, cell, recorded).ToList();
        record.Begin([.. todo.Select(one => $"{one.Token}")]);
        record.EndCell(NameOf(cell));
        if (todo.Count == 0)
            return;

        var every = new EveryPoint(cell, await ServersAsync(cancellationToken));
        try
        {
            await every.MakeAsync(todo, record.Save, cancellationToken);
        }
        finally
        {
            record.End();
        }
    }

    private IEnumerable<PointExperiment> Chosen(FaultRecord record, Cell cell, IReadOnlyList<CrashPoint> recorded)
    {
        var all = EveryPoint.ExperimentsAt(cell, recorded, points.Ways).ToList();
        if (points.Only is not { Count: > 0 } only)
            return all.Where(one => !record.Has($"{one.Token}"));

        var named = only.Where(token => PointCells.Find(token.Of) == cell).Select(token => token with { Of = PointCells.NameOf(cell) }).ToHashSet();
        if (named.Except(all.Select(one => one.Token)).FirstOrDefault() is { } unknown)
        {
            throw new KitException(
                $"There is no point {unknown}: the recorded handling has the points 1 to {recorded.Count}, and not every point has every way.",
                "To see them, leave out --only.");
        }

        return all.Where(one => named.Contains(one.Token));
    }

    private static string NameOf(Cell cell) => $"{Provenance.NameOf(cell)}";

    private async Task<ServersInUse> ServersAsync(CancellationToken cancellationToken) =>
        servers ??= await ServersInUse.StartAsync(Transport.NeededBy(plan.Runnable.Select(Transport.Of)), cancellationToken);
}
