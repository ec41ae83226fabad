using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Rounds;

namespace Kit.Runner.Comparing;

/// <summary>Two builds, run alternately on the same servers, round by round. <see cref="RunAsync"/> narrates it.</summary>
internal sealed class PairedBuilds(ComparePlan plan, IRunDisplay display)
{
    /// <summary>How many pairs have ended and are saved.</summary>
    public int Finished { get; private set; }

    /// <summary>Whether a cell was left out that a build should have run: its probe disagreed, or its trial failed.</summary>
    public bool IsCellRefused { get; private set; }

    /// <summary>Runs it. Finished rounds are saved at once, and the report is written over them whatever comes after.</summary>
    /// <exception cref="KitException">A build does not run, the two have no cell in common, or the results cannot be saved.</exception>
    /// <exception cref="OperationCanceledException">It was stopped; the report over what was finished is written.</exception>
    public async Task<ComparisonReport> RunAsync(CancellationToken cancellationToken)
    {
        RequireNewFolder();
        await using var servers = await SharedServers.OpenAsync(plan, display, cancellationToken);
        var (before, after) = await TryAsync(servers, cancellationToken);
        try
        {
            await MeasureAsync(before, after, cancellationToken);
        }
        catch (Exception failure)
        {
            TryEnd(before, after, RunEnding.Stopped(cancellationToken.IsCancellationRequested ? "interrupted" : failure.Message));
            cancellationToken.ThrowIfCancellationRequested();
            throw;
        }

        return End(before, after, RunEnding.Completed);
    }

    private void RequireNewFolder()
    {
        foreach (var name in new[] { ComparePlan.ReportFile, "before", "after" })
        {
            if (Path.Exists(Path.Combine(plan.Folder, name)))
            {
                throw new KitException(
                    $"The folder {plan.Folder} already holds a comparison: {name} is there.",
                    "Name a new folder with --out, or remove this one; a comparison is never written over.");
            }
        }
    }

    /// <summary>
    /// One message for each cell of each build: which cells they have in common, and that they work, before anything is measured.
    /// </summary>
    private async Task<(Side Before, Side After)> TryAsync(SharedServers servers, CancellationToken cancellationToken)
    {
        var child = Path.Combine(Path.GetFullPath(plan.Folder), "running");
        var (first, second) = (new BuildRun(plan.Before, servers.Variables, child), new BuildRun(plan.After, servers.Variables, child));
        var before = await TryAsync(first, "before", plan.Before, cancellationToken);
        var after = await TryAsync(second, "after", plan.After, cancellationToken);
        var common = WorkingCells(before).Intersect(WorkingCells(after)).ToList();
        if (common.Count == 0)
        {
            throw new KitException(
                $"The two builds have no working cell in common. Before: {Listed(before)}. After: {Listed(after)}.",
                "Choose cells that both have, with the filters; 'list' of each build shows its cells.");
        }

        return (SideOf("before", plan.Before, before, first), SideOf("after", plan.After, after, second));

        Side SideOf(string name, Build build, RecordedRun tried, BuildRun run) =>
            new(Path.Combine(plan.Folder, name), DocumentOf(build, tried, common, servers), run, tried.Rounds);
    }

    private async Task<RecordedRun> TryAsync(BuildRun run, string name, Build build, CancellationToken cancellationToken)
    {
        display.Note($"Trying the build {name} with a message for each cell: {build.Folder}, {build.Version}");
        var (tried, succeeded) = await run.RunAsync(
            [
                .. plan.Filters, "--messages", "1", "--warmup", "0", "--seed-rows", "0", "--rounds", "1", "--concurrency", Figures.Plain(
                    plan.Sizes.Concurrency),
            ],
            cancellationToken);
        IsCellRefused |= !succeeded;
        foreach (var round in tried.Rounds.Where(round => !round.Outcome.IsValid()))
            display.Note($"{round.Cell} does not work in the build {name}: {string.Join("; ", round.Outcome.Reasons)}");
        if (build.IsStale(tried.Document.Commit?.Id))
        {
            display.Note(
                $"The build {name} was made of another commit than its work tree stands at ({tried.Document.Commit!.Id}). " +
                "Build it again if that was not meant.");
        }

        return tried;
    }

    private async Task MeasureAsync(Side before, Side after, CancellationToken cancellationToken)
    {
        var cells = before.Recorded.Document.Cells;
        var planned = cells.Count * plan.Sizes.Rounds;
        foreach (var (cell, round, isAfterFirst) in plan.Order(cells))
        {
            var pair = new Dictionary<Side, RoundDocument>();
            foreach (var side in isAfterFirst ? new[] { after, before } : [before, after])
            {
                display.Round($"{cell}, round {round} of {plan.Sizes.Rounds}, {(side == before ? "before" : "after")}", messages: 1);
                pair[side] = await side.MeasureAsync(cell, round, cancellationToken);
            }

            display.Finished(LineOf(pair[before], pair[after]), ++Finished, planned);
        }
    }

    private RunDocument DocumentOf(Build build, RecordedRun tried, List<CellName> common, SharedServers servers) =>
        servers.Owned(tried.Document) with
        {
            CommandLine = plan.CommandLine,
            StartedUtc = DateTimeOffset.UtcNow,
            EndedUtc = null,
            Ending = RunEnding.Running,
            Settings = plan.Sizes,
            SeedingSeconds = null,
            Cells = common,
            LeftOut =
            [
                .. tried.Document.LeftOut,
                .. tried.Cells.Select(cell => cell.Cell).Except(common).Select(cell => new CellLeftOut(cell, WhyAlone(tried, cell))),
            ],
            Probes = [.. tried.Document.Probes.Where(probe => common.Contains(probe.Cell))],
            Build = new BuildFacts(build.Folder, build.Version, build.Fingerprint),
        };

    private ComparisonReport End(Side before, Side after, RunEnding ending)
    {
        before.End(ending);
        after.End(ending);
        var report = new ComparisonReport(
            plan.CommandLine, ComparedSpeeds.ByRound(before.Recorded, after.Recorded, plan.Limits), promises: null);
        WholeFile.Write(plan.ReportPath, report.WriteMarkdown);
        return report;
    }

    private void TryEnd(Side before, Side after, RunEnding ending)
    {
        try
        {
            End(before, after, ending);
        }
        catch (KitException)
        {
            // What stopped the comparison says more than what followed from it.
        }
    }

    private static IEnumerable<CellName> WorkingCells(RecordedRun tried) =>
        tried.Rounds.Where(round => round.Outcome.IsValid()).Select(round => round.Cell);

    private static string WhyAlone(RecordedRun tried, CellName cell) =>
        tried.Rounds.FirstOrDefault(round => round.Cell == cell && !round.Outcome.IsValid()) is { } failed
            ? $"its trial failed: {string.Join("; ", failed.Outcome.Reasons)}"
            : "the other build does not run it";

    private static string Listed(RecordedRun tried) => WorkingCells(tried).Any() ? string.Join(", ", WorkingCells(tried)) : "none";

    private static string LineOf(RoundDocument before, RoundDocument after) =>
        $"{before.Cell}, round {before.Round}: before {StandingOf(before)}, after {StandingOf(after)}";

    private static string StandingOf(RoundDocument round) => round.Outcome.IsValid()
        ? $"{Figures.Measured(round.Throughput.AveragePerSecond)} msg/s"
        : $"{round.Outcome} ({string.Join("; ", round.Outcome.Reasons)})";
}
