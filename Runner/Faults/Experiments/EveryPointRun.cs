using Kit.Endpoints.Cells;
using Kit.Runner.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Meets the points of every cell of one command, on private servers. Each result is saved at once.</summary>
/// <param name="tell">Receives each result, the number of results so far and the number planned for its cell.</param>
/// <param name="say">Receives a line about each cell.</param>
internal sealed class EveryPointRun(FaultPlan plan, Action<FaultResult, int, int> tell, Action<string> say)
{
    private readonly FaultFolder folder = new(plan.Folder);
    private readonly Lock saving = new();
    private readonly List<FaultResult> results = [];
    private readonly EveryPointPlan points = plan.EveryPoint ?? throw new ArgumentException("The plan meets no points.", nameof(plan));
    private RunServers? servers;

    /// <summary>Makes the experiments that the folder does not have yet, and writes the reports, even if it is stopped.</summary>
    /// <returns>Every result of the folder, of this command or an earlier one.</returns>
    /// <exception cref="KitException">
    /// Nothing can run, a server does not start, an undisturbed message is not handled, there is no such point, or the folder cannot be written or read.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was stopped; finished experiments are saved.</exception>
    public async Task<(FaultDocument Document, IReadOnlyList<FaultResult> Results)> RunAsync(CancellationToken cancellationToken)
    {
        var document = (await new FaultDocuments(plan, folder).BeginAsync(cancellationToken)).With(points.Ways);
        results.AddRange(folder.LoadResults());
        folder.Save(document);
        try
        {
            foreach (var cell in plan.Runnable)
            {
                document = await RecordAsync(document, cell, cancellationToken);
                document = await MakeAsync(document, cell, cancellationToken);
            }
        }
        finally
        {
            if (servers is not null)
                await servers.DisposeAsync();
            folder.WriteReports(new GuaranteeReport(document, results));
        }

        return (document, results);
    }

    private async Task<FaultDocument> RecordAsync(FaultDocument document, Cell cell, CancellationToken cancellationToken)
    {
        var known = document.Points ?? new Dictionary<string, IReadOnlyList<CrashPoint>>();
        var name = $"{Provenance.NameOf(cell)}";
        if (!known.TryGetValue(name, out var recorded))
        {
            var own = await ServersAsync(cancellationToken);
            var found = await new EveryPoint(cell, own).RecordAsync(cancellationToken);
            recorded = found.Points;
            foreach (var notTried in RecordedPoints.NotTried(found.Rare, found.Late, found.Unused))
                say($"{name}: {notTried}");
            document = document with
            {
                Servers = FaultDocuments.VersionsOf(own, document.Servers),
                Points = new Dictionary<string, IReadOnlyList<CrashPoint>>(known) { [name] = recorded },
            };
            folder.Save(document);
        }

        say($"{name}: {recorded.Count} points, {recorded.Sum(point => point.WaysAmong(points.Ways).Count)} experiments");
        return document;
    }

    private async Task<FaultDocument> MakeAsync(FaultDocument document, Cell cell, CancellationToken cancellationToken)
    {
        var name = $"{Provenance.NameOf(cell)}";
        var todo = Chosen(cell, document.Points![name]).ToList();
        if (todo.Count == 0)
            return document;

        var every = new EveryPoint(cell, await ServersAsync(cancellationToken));
        var outstanding = document.Outstanding.Union(todo.Select(one => $"{one.Token}")).ToList();
        folder.Save(document = document with { Outstanding = outstanding });
        var finished = 0;
        try
        {
            await every.MakeAsync(todo, result => Save(result, Interlocked.Increment(ref finished), todo.Count), cancellationToken);
        }
        finally
        {
            lock (saving)
                folder.Save(document = document with { Outstanding = [.. outstanding.Except(results.Select(result => result.Name))] });
        }

        return document;
    }

    private IEnumerable<PointExperiment> Chosen(Cell cell, IReadOnlyList<CrashPoint> recorded)
    {
        var all = EveryPoint.ExperimentsAt(cell, recorded, points.Ways).ToList();
        if (points.Only is not { Count: > 0 } only)
        {
            var done = results.Where(result => result.IsGood || result.Verdict is FaultVerdict.Broken).Select(result => result.Name).ToHashSet();
            return all.Where(one => !done.Contains($"{one.Token}"));
        }

        var named = only.Where(token => PointCells.Find(token.Of) == cell).Select(token => token with { Of = PointCells.NameOf(cell) }).ToHashSet();
        if (named.Except(all.Select(one => one.Token)).FirstOrDefault() is { } unknown)
        {
            throw new KitException(
                $"There is no point {unknown}: the recorded handling has the points 1 to {recorded.Count}, and not every point has every way.",
                "To see them, leave out --only.");
        }

        return all.Where(one => named.Contains(one.Token));
    }

    private async Task<RunServers> ServersAsync(CancellationToken cancellationToken) =>
        servers ??= await RunServers.StartAsync(Transport.NeededBy(plan.Runnable.Select(Transport.Of)), cancellationToken);

    private void Save(FaultResult result, int finished, int planned)
    {
        lock (saving)
        {
            folder.Save(result);
            results.RemoveAll(other => other.Name == result.Name);
            results.Add(result);
            tell(result, finished, planned);
        }
    }
}
