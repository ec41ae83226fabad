using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Rounds;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;

namespace Kit.Benchmarks.Floor;

/// <summary>
/// One drain by pgbench, prepared and accounted for like a <see cref="Round"/> of the runner; only the drain differs.
/// </summary>
internal sealed class ContestRound(RunSettings sizes, BenchmarkServer server)
{
    /// <summary>Its mode has the queue next to the widgets, as pgbench needs them.</summary>
    private static readonly Cell Cell = Cell.All.Single(cell => cell.Name == "bare.postgresql.shared.ado");

    /// <summary>Runs it. Any failure becomes the outcome; only a cancellation is thrown.</summary>
    public async Task<ContestResult> RunAsync(Func<string, Pgbench> start, CancellationToken cancellationToken)
    {
        try
        {
            await using var stage = await CellStage.OpenAsync(
                Cell, server.Running, server.Running, new StageOptions(StageRows.Restored), cancellationToken);
            var (databases, queue) = (stage.Databases, stage.Queue);
            var pgbench = start(databases.WidgetsForRunner);

            var warmUp = stage.Messages.New(sizes.WarmUp);
            await queue.PreloadAsync(warmUp, cancellationToken);
            await pgbench.DrainAsync(warmUp.Count, cancellationToken);

            var messages = stage.Messages.New(sizes.Messages);
            await queue.PreloadAsync(messages, cancellationToken);
            await databases.SettleAsync(Cell, cancellationToken);
            var before = (await databases.ReadCountersAsync(cancellationToken))!;
            var (begin, own) = (CpuSample.Take(), Environment.CpuUsage.TotalTime);
            await pgbench.DrainAsync(messages.Count, cancellationToken);
            own = Environment.CpuUsage.TotalTime - own;
            var end = CpuSample.Take();
            var after = (await databases.ReadCountersAsync(cancellationToken))!;

            var built = await databases.ReadBuiltAsync(withCommitTime: true, cancellationToken);
            var account = RoundAccount.Of(await stage.ReadEvidenceAsync(warmUp, messages, handled: null, built, sizes.SeedRows, cancellationToken));
            return new ContestResult(
                account.Outcome, OffsetsOf(messages, built), pgbench.OwnPerSecond, CostsOf(before, after, begin, end, own), OthersOf(begin, end));
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return ContestResult.Failed(KitException.TextOf(failure));
        }
    }

    private static List<double> OffsetsOf(List<BuildWidget> messages, IReadOnlyList<BuiltWidget> built)
    {
        var ids = messages.Select(message => message.MessageId).ToHashSet();
        var commits = built.Where(widget => ids.Contains(widget.MessageId)).Select(widget => widget.Committed!.Value).Order().ToList();
        return [.. commits.Select(commit => (commit - commits[0]).TotalMilliseconds)];
    }

    private MessageCosts CostsOf(ServerCounters before, ServerCounters after, CpuSample? begin, CpuSample? end, TimeSpan own) => new(
        after.CommitsSince(before).Per(sizes.Messages),
        after.FlushesSince(before).Per(sizes.Messages),
        after.WalBytesSince(before).Per(sizes.Messages),
        Reading.Missing("not counted"),
        // pgbench is a child of this process, and has ended by now.
        CpuOf(begin, end, Environment.ProcessId, own),
        CpuOf(begin, end, server.PostmasterPid, TimeSpan.Zero));

    private Reading CpuOf(CpuSample? begin, CpuSample? end, int process, TimeSpan less) => (begin, end) is ({ } first, { } last)
        ? Reading.Of((CpuUse.TimeOf(first, last, new HashSet<int> { process }) - less).TotalMilliseconds).Per(sizes.Messages)
        : Reading.Missing(CpuSample.Support.Because!);

    private double? OthersOf(CpuSample? begin, CpuSample? end) => (begin, end) is ({ } first, { } last)
        ? CpuUse.Between(first, last, new HashSet<int> { Environment.ProcessId, server.PostmasterPid }).OthersShare
        : null;
}
