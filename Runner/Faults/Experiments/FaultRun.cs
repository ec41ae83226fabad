using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>All experiments of one command: private servers, every cell under every fault. Each result is saved at once.</summary>
/// <param name="plan">What to do.</param>
/// <param name="tell">Receives each result, how many there are and how many are planned.</param>
/// <param name="say">Receives a line about a storm's progress now and then.</param>
internal sealed class FaultRun(FaultPlan plan, Action<FaultResult, int, int> tell, Action<string> say)
{
    /// <summary>Experiments that run at the same time: they mostly wait until everything is quiet. Those that crash servers run alone.</summary>
    private const int AtOnce = 4;

    /// <summary>Runs the experiments that the folder does not have yet, and writes the reports, even if it is stopped.</summary>
    /// <exception cref="KitException">Nothing can run, a server does not start, or the folder cannot be written or read.</exception>
    /// <exception cref="OperationCanceledException">It was stopped; finished experiments are saved.</exception>
    public async Task<FaultRecord> RunAsync(CancellationToken cancellationToken)
    {
        using var claim = FolderClaim.TakeOrCreate(plan.Folder);
        var record = await FaultRecord.OpenAsync(plan, tell, cancellationToken);
        var todo = Experiments().Where(one => !record.Has(one.Name)).ToList();
        record.Begin([.. todo.Select(one => one.Name)]);
        try
        {
            if (todo.Count > 0)
            {
                // Always the kit's own servers, because they are made to crash.
                await using var servers = await ServersInUse.StartAsync(Transport.NeededBy(todo.Select(one => Transport.Of(one.Cell))), cancellationToken);
                record.Save(servers);
                await MakeAsync(todo, servers, record, cancellationToken);
            }
        }
        finally
        {
            record.End();
            record.WriteReports();
        }

        return record;
    }

    private async Task MakeAsync(List<Experiment> todo, ServersInUse servers, FaultRecord record, CancellationToken cancellationToken)
    {
        var together = new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = cancellationToken };
        await Parallel.ForEachAsync(
            todo.Where(one => !one.NeedsTheServersAlone),
            together,
            async (one, stop) => Save(await one.RunAsync(servers, plan, say, stop), servers, record));
        foreach (var one in todo.Where(one => one.NeedsTheServersAlone))
        {
            cancellationToken.ThrowIfCancellationRequested();
            Save(await one.RunAsync(servers, plan, say, cancellationToken), servers, record);
        }
    }

    private IEnumerable<Experiment> Experiments() => plan.Storm is { } storm
        ? plan.Runnable.Select(cell => new Experiment(cell, Fault: null, storm))
        : from cell in plan.Runnable
          from fault in plan.Faults
          where plan.Meets(cell, fault)
          select new Experiment(cell, fault, Storm: null);

    private static void Save(FaultResult result, ServersInUse servers, FaultRecord record)
    {
        if (result.Verdict is FaultVerdict.Failed)
            servers.ThrowIfEnded("Finished experiments are kept: the same command with --out and their folder goes on.", result.Because ?? "nothing said why");
        record.Save(result);
    }

    /// <summary>A cell under a fault, or in a storm.</summary>
    private sealed record Experiment(Cell Cell, Fault? Fault, StormPlan? Storm)
    {
        public string Name => FaultResult.NameOf(Provenance.NameOf(Cell), Fault?.Name ?? StormFacts.Name);

        /// <summary>A fault of a server affects every cell, and a storm needs the CPU.</summary>
        public bool NeedsTheServersAlone => Storm is not null || Injection.Of(Fault!, Cell, Guid.Empty).NeedsTheServersAlone;

        public Task<FaultResult> RunAsync(
            ServersInUse servers, FaultPlan plan, Action<string> say, CancellationToken cancellationToken) => Storm is not null
            ? new Storm(Cell, servers, Storm, say).RunAsync(cancellationToken)
            : new SingleFault(Cell, Fault!, plan.ShapeOf(Cell), servers, plan.Away).RunAsync(cancellationToken);
    }
}
