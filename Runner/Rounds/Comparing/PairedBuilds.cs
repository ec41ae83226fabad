using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Rounds.Comparing;

/// <summary>Two builds, run alternately on the same servers, round by round. <see cref="RunAsync"/> narrates it.</summary>
internal sealed class PairedBuilds(ComparePlan plan, IRunDisplay display)
{
    private readonly List<(string Round, Noise Noise)> turns = [];

    /// <summary>Pairs that have finished and are saved.</summary>
    public int Finished { get; private set; }

    /// <summary>True if a cell failed that a build should have run: its probe disagreed with its label, or a round failed.</summary>
    public bool IsCellRefused { get; private set; }

    /// <summary>Runs it. A finished round is saved at once, and the report is written even if the run fails later.</summary>
    /// <exception cref="KitException">A build does not run, the two have no cell in common, or the results cannot be saved.</exception>
    /// <exception cref="OperationCanceledException">It was stopped; the report on the finished rounds is written.</exception>
    public async Task<ComparisonReport> RunAsync(CancellationToken cancellationToken)
    {
        RunName.RequireWithout(plan.Folder, [ComparePlan.ReportFile, "before", "after"], "comparison");
        await using var servers = await SharedServers.OpenAsync(plan, display, cancellationToken);
        await using var before = await StartAsync("before", plan.Before, servers, cancellationToken);
        await using var after = await StartAsync("after", plan.After, servers, cancellationToken);
        var cells = CellsOfBoth(before, after);
        try
        {
            await MeasureAsync(before, after, cells, servers, cancellationToken);
            foreach (var side in new[] { before, after })
                IsCellRefused |= !await side.EndAsync(cancellationToken);
        }
        catch (Exception failure)
        {
            await Task.WhenAll(before.DisposeAsync().AsTask(), after.DisposeAsync().AsTask());
            TrySave(RunEnding.Stopped(cancellationToken.IsCancellationRequested ? "interrupted" : KitException.MessageOf(failure)));
            cancellationToken.ThrowIfCancellationRequested();
            throw;
        }

        return Save(RunEnding.Completed);

        ComparisonReport Save(RunEnding ending)
        {
            foreach (var side in new[] { before, after })
                side.Save(run => HalfOf(run, side.Build, cells, ending, servers));
            var report = new ComparisonReport(
                plan.CommandLine, ComparedSpeeds.ByRound(before.Recorded, after.Recorded, plan.Limits), promises: null)
            {
                Turns = turns,
            };
            WholeFile.Write(plan.ReportPath, report.WriteMarkdown);
            return report;
        }

        void TrySave(RunEnding ending)
        {
            try
            {
                Save(ending);
            }
            catch (KitException)
            {
                // The error that stopped the comparison says more than this one.
            }
        }
    }

    private async Task<Side> StartAsync(string name, Build build, SharedServers servers, CancellationToken cancellationToken)
    {
        display.Note($"Starting the build {name}: {build.Folder}, {build.Version}");
        var running = await RunningBuild.StartAsync(
            build,
            servers.Variables,
            [.. plan.Filters, .. plan.SizesAsTyped],
            Path.Combine(plan.Folder, name),
            line => display.Note($"  {name}: {line}"),
            cancellationToken);
        try
        {
            return new Side(build, running);
        }
        catch
        {
            // Its files cannot be read, and nothing else would end it.
            await running.DisposeAsync();
            throw;
        }
    }

    private static List<CellName> CellsOfBoth(Side before, Side after)
    {
        var common = before.Document.Cells.Intersect(after.Document.Cells).ToList();
        return common.Count > 0 ? common : throw new KitException(
            $"The two builds have no working cell in common. Before: {Listed(before)}. After: {Listed(after)}.",
            "Choose cells that both have, with the filters; 'list' of each build shows its cells.");

        static string Listed(Side side) => string.Join(", ", side.Document.Cells);
    }

    private async Task MeasureAsync(
        Side before, Side after, List<CellName> cells, SharedServers servers, CancellationToken cancellationToken)
    {
        var planned = cells.Count * plan.Sizes.Rounds;
        display.Plan([.. cells.Select(cell => cell.ToString())], plan.Sizes.Rounds, isAtMost: false, finished: []);
        foreach (var (cell, round, isAfterFirst) in plan.Order(cells))
        {
            var pair = new Dictionary<Side, RoundDocument>();
            foreach (var side in isAfterFirst ? new[] { after, before } : [before, after])
            {
                var name = side == before ? "before" : "after";
                display.Round(cell.ToString(), round, $"{cell}, round {round} of {plan.Sizes.Rounds}, {name}", messages: 1);
                var start = CpuSample.Take();
                pair[side] = await side.MeasureAsync(cell, round, cancellationToken);
                turns.Add(($"{name}, {RoundDocument.NameOf(cell.ToString(), round, attempt: 1)}", servers.NoiseBetween(start, CpuSample.Take())));
            }

            display.Finished(LineOf(pair[before], pair[after]), FinishedRound.OfPair(pair[before], pair[after]), ++Finished, planned);
        }
    }

    private RunDocument HalfOf(RunDocument run, Build build, List<CellName> cells, RunEnding ending, SharedServers servers) =>
        servers.Owned(run) with
        {
            CommandLine = plan.CommandLine,
            EndedUtc = DateTimeOffset.UtcNow,
            Ending = ending,
            Cells = cells,
            LeftOut = [.. run.LeftOut, .. run.Cells.Except(cells).Select(cell => new CellLeftOut(cell, ComparedSpeeds.OtherLacksIt))],
            Build = new BuildFacts(build.Folder, build.Version, build.Fingerprint),
        };

    private static string LineOf(RoundDocument before, RoundDocument after) =>
        $"{before.Cell}, round {before.Round}: before {StandingOf(before)}, after {StandingOf(after)}";

    private static string StandingOf(RoundDocument round) => round.Outcome.IsValid()
        ? $"{Figures.Measured(round.Throughput.AveragePerSecond)} msg/s"
        : $"{round.Outcome} ({string.Join("; ", round.Outcome.Reasons)})";
}
