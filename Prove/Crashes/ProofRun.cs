using System.Diagnostics;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;

namespace Kit.Prove.Crashes;

/// <summary>Proves, or refutes, what a user promises of an application. Each result is saved at once.</summary>
/// <param name="tell">Receives each result, how many there are and how many are planned.</param>
/// <param name="say">Receives a line about each step.</param>
internal sealed class ProofRun(ProofPlan plan, Action<ProofResult, int, int> tell, Action<string> say)
{
    /// <summary>Stored until it has ended: a process that is killed cannot change it.</summary>
    private const string IsRunning = "the proof goes on, or its process died";

    private readonly ProofFile file = plan.File;
    private readonly ProofFolder folder = new(plan.Folder);
    private readonly Lock deciding = new();
    private readonly Stopwatch watch = Stopwatch.StartNew();
    private Queue<PointExperiment> waiting = new();
    private ProofDocument document = null!;
    private FolderClaim? claim;
    private int planned;
    private int finished;

    /// <summary>Makes the experiments that the folder does not have yet. What was made is in the document also if it is stopped.</summary>
    /// <exception cref="KitException">
    /// The file does not fit the application, a server does not start, there is no such point, or the folder cannot be written or holds another proof.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was stopped before the points were known.</exception>
    public async Task<ProofDocument> RunAsync(CancellationToken cancellationToken)
    {
        try
        {
            return file.Secrets.Masked(await RunInItsFolderAsync(cancellationToken));
        }
        finally
        {
            claim?.Dispose();
        }
    }

    private async Task<ProofDocument> RunInItsFolderAsync(CancellationToken cancellationToken)
    {
        // Its processes have no SIGKILL, and ways a and b would all be void.
        if (OperatingSystem.IsWindows())
            throw new KitException("On Windows a killed process cannot be told from one that has ended.", "Prove the service on Linux.") { IsUsage = true };
        claim = FolderClaim.TakeOrCreate(plan.Folder);
        document = Begin(Build.FingerprintOf(AppContext.BaseDirectory));
        if (document.Points.Count > 0 && !Chosen().Any())
        {
            say($"Nothing was tried now: the results are all of {Figures.Moment(document.StartedUtc)} and later. To prove it again, name another folder.");
            return document;
        }

        await using var servers = await ProofServers.StartAsync(file, cancellationToken);
        if (document.Points.Count > 0 && document.DifferencesFrom(servers.Versions).ToList() is { Count: > 0 } differences)
            throw StoredSubject.Other(InTheFolder, $"other servers ({string.Join("; ", differences)})");

        var judge = new ProofJudge(file);
        var experiments = judge.ExperimentsOn(servers);
        if (document.Points.Count == 0)
            await RecordAsync(servers, experiments, cancellationToken);
        watch.Restart();

        foreach (var line in Recording.LinesOf(document))
            say(line);
        waiting = new Queue<PointExperiment>(PointOrder.Of(Chosen()));
        planned = waiting.Count;
        try
        {
            await experiments.MakeAsync(
                Math.Min(file.Instances, Math.Max(1, planned)), Next, judge.Judge, Keep, cancellationToken);
            Close(plan.Only is not null ? "only one was asked for" : "the budget was used up");
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            Close("it was stopped");
        }
        catch
        {
            Close("an experiment before them failed");
            throw;
        }

        return document;
    }

    private ProofDocument Begin(string fingerprint)
    {
        if (!folder.Exists)
        {
            return new ProofDocument
            {
                Name = file.Name,
                StartedUtc = DateTimeOffset.UtcNow,
                Fingerprint = fingerprint,
                ProofFile = file.Text,
                Given = file.Given,
                Service = StoredSubject.FingerprintOf(file),
                Lease = file.Lease,
                Promised = [.. file.Promised.Order()],
            };
        }

        var stored = folder.LoadDocument();
        StoredSubject.Require(file, fingerprint, InTheFolder, stored.ProofFile, stored.Given, stored.Fingerprint, stored.Service);
        return stored;
    }

    private string InTheFolder => $"{plan.Folder} has the proof";

    private async Task RecordAsync(ProofServers servers, PointExperiments<ProofAccount> experiments, CancellationToken cancellationToken)
    {
        document = await new Recording(file, servers, say).MakeAsync(document, experiments, cancellationToken);
        Save();
    }

    // Its points stay as they are: later experiments are compared with them, and their statements have no literals.
    private void Save(string because = IsRunning)
    {
        List<string> left = [.. All.Select(experiment => $"{experiment.Token}").Except(document.Results.Select(result => result.Point.Token))];
        document = document with { NotTried = left, NotTriedBecause = left.Count > 0 ? because : null };
        folder.Save(file.Secrets.Masked(document) with { Points = document.Points });
    }

    private IReadOnlyList<PointExperiment> All => [.. PointExperiment.At(file.Name, document.Points)];

    private IEnumerable<PointExperiment> Chosen()
    {
        if (plan.Only is { } only)
        {
            return All.FirstOrDefault(experiment => experiment.Token == only) is { } named
                ? [named]
                : throw new KitException(
                    $"There is no point {only}: the recorded handling of {file.Name} has the points 1 to {document.Points.Count}, and some have fewer ways.",
                    "To see them, leave out --only.")
                { IsUsage = true };
        }

        var done = document.Results.Where(result => result.IsConclusive).Select(result => result.Point.Token).ToHashSet();
        return All.Where(experiment => !done.Contains($"{experiment.Token}"));
    }

    private PointExperiment? Next()
    {
        lock (deciding)
            return watch.Elapsed < (plan.Budget ?? TimeSpan.MaxValue) && waiting.TryDequeue(out var next) ? next : null;
    }

    private void Keep(ProofResult result)
    {
        lock (deciding)
        {
            var earlier = document.Results.FirstOrDefault(other => other.Point.Token == result.Point.Token);
            if (earlier is { Verdict: FaultVerdict.Broken } && result.Verdict is not FaultVerdict.Broken)
                say($"Before, {result.Point.Token} had broken the promise: {string.Join("; ", earlier.Violations)}. In the report it stays broken.");
            document = document with { Results = [.. document.Results.Where(other => other.Point.Token != result.Point.Token), result.After(earlier)] };
            Save();
            tell(result, ++finished, planned);
        }
    }

    private void Close(string because)
    {
        lock (deciding)
            Save(because);
    }
}

/// <summary>The plan of one <c>prove</c>.</summary>
/// <param name="Only">The only experiment; <see langword="null"/>: all.</param>
/// <param name="Budget">After this time no new experiment begins; <see langword="null"/>: there is no limit.</param>
internal sealed record ProofPlan(ProofFile File, string Folder, PointToken? Only, TimeSpan? Budget);

/// <summary>The order of experiments that finds violations early.</summary>
internal static class PointOrder
{
    /// <summary>The beginnings of statements and methods that take effect for others.</summary>
    private static readonly IReadOnlyList<string> TakingEffect =
        ["COMMIT", "PREPARE TRANSACTION", "basic.ack", "basic.nack", "basic.reject", "basic.publish", "tx.commit"];

    /// <summary>Kills around commits, acknowledgements and publishes first, and the slow way, in which an answer never comes, last.</summary>
    public static IEnumerable<PointExperiment> Of(IEnumerable<PointExperiment> experiments) =>
        from experiment in experiments
        let way = experiment.Way.Facts()
        orderby !way.KillsProcess, way.KillsProcess && !TakesEffect(experiment.Point), way.Rank, experiment.Point.Number
        select experiment;

    private static bool TakesEffect(CrashPoint point) =>
        TakingEffect.Any(text => point.Request.Text.StartsWith(text, StringComparison.OrdinalIgnoreCase));
}
