using System.Diagnostics;
using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Prove.Handlings;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;

namespace Kit.Prove.Drains;

/// <summary>Measures how fast a service empties its queue, in rounds. Each round is saved at once.</summary>
/// <param name="say">Receives a line about each step.</param>
internal sealed class DrainRun(DrainPlan plan, Action<string> say)
{
    private readonly DrainFolder folder = new(plan.Folder);
    private FolderClaim? claim;
    private DrainDocument document = null!;

    /// <summary>Makes the rounds that the folder does not have yet. What was made is in the document also if it is stopped.</summary>
    /// <exception cref="KitException">
    /// The file does not fit the service, nothing can be put in while the service is stopped, a server does not start, or the folder cannot be written or has
    /// another drain, such as one on another machine, or with another source of moments.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was stopped before the first round was made.</exception>
    public async Task<DrainDocument> RunAsync(CancellationToken cancellationToken)
    {
        try
        {
            claim = FolderClaim.TakeOrCreate(plan.Folder);
            document = Begin(Build.FingerprintOf(AppContext.BaseDirectory));
            await MeasureAsync(cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested && document is { Rounds.Count: > 0 })
        {
            // The rounds before it are kept.
        }
        finally
        {
            claim?.Dispose();
        }

        return plan.File.Secrets.Masked(document);
    }

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        List<int> todo = [.. document.Missing.Where(number => number <= (plan.UpTo ?? document.Planned))];
        if (todo.Count == 0 && ToRepeat().Count == 0 && !IsToBeTraced)
        {
            say($"Nothing was measured now: the folder has {(plan.UpTo is null ? "every" : "that")} round. To measure again, name another folder.");
            return;
        }

        if (document.Planned > plan.Rounds)
            say($"{Figures.Count(document.Planned, "round")} were asked for before, and all of them are made. To make fewer, name another folder.");
        await using var servers = await ProofServers.StartAsync(plan.File, plan.Named, say, cancellationToken);
        servers.RequireMoments(plan.File, asTheyCome: false);
        var place = ServerPlace.Choose(allowsMemory: true);
        foreach (var line in servers.Announced.Concat(servers.LacksOf(plan.File) ?? []))
            say(line);
        RequireTheSame(servers, place);
        say("One undisturbed message …");
        await new Trial(plan.File, servers, say).RunAsync(cancellationToken);
        if (document.Handling is null)
        {
            say("One more, for what is committed together …");
            document = document with { Handling = await Observation.LookAsync(plan.File, servers, cancellationToken) };
        }

        // A continued drain is judged by the flush from before its first round.
        document = document with
        {
            Servers = servers.Versions,
            Named = servers.Named,
            Lacks = servers.LacksOf(plan.File),
            Disk = servers.AreOwn ? document.Disk ?? place.MeasureDisk() : null,
        };
        foreach (var number in todo)
        {
            var made = await MakeAsync(servers, number, attempt: 1, cancellationToken);
            // The next one would fail in the same way, after minutes.
            if (made.Outcome.Verdict is Verdict.Stalled or Verdict.Error)
                return;
        }

        foreach (var noisy in ToRepeat())
            await MakeAsync(servers, noisy.Round, attempt: 2, cancellationToken);
        if (IsToBeTraced)
            await TraceAsync(servers, cancellationToken);
    }

    private bool IsToBeTraced => document.Traced is null && plan.File.NeedsDatabases;

    /// <summary>Drains once more, through the kit's proxy, which is slower and tells what passes.</summary>
    private async Task TraceAsync(ProofServers servers, CancellationToken cancellationToken)
    {
        say("Once more through the kit's proxy, for what passes there …");
        var traced = await new ServiceRound(plan, servers, disk: null, new Told(_ => { })) { IsTraced = true }
            .RunAsync(document.Planned + 1, attempt: 1, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        Keep(document with { Traced = traced });
    }

    private void Keep(DrainDocument now)
    {
        document = now;
        folder.Save(plan.File.Secrets.Masked(document));
    }

    private IReadOnlyList<DrainRound> ToRepeat() => RoundAttempts.ToRepeat(document.Rounds, round => round.Round);

    private async Task<DrainRound> MakeAsync(ProofServers servers, int number, int attempt, CancellationToken cancellationToken)
    {
        var all = plan.WarmUp + plan.Messages;
        var name = $"Round {Figures.Plain(number)} of {Figures.Plain(document.Planned)}{(attempt > 1 ? ", again" : "")}";
        say($"{name}: {Figures.Count(all, "message")} are put in …");
        var progress = new Told(handled => say($"{name}: {Figures.Count(handled)} of {Figures.Count(all)} are handled …"));
        var made = await new ServiceRound(plan, servers, document.Disk, progress).RunAsync(number, attempt, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        Keep(document with { Rounds = [.. document.Rounds, made] });
        say(RoundLine.Of(name, made));
        return made;
    }

    /// <exception cref="KitException">Rounds from here would not belong to those of the folder.</exception>
    private void RequireTheSame(ProofServers servers, ServerPlace place)
    {
        // Stored is a document without passwords, and one can be the name of its user.
        var now = plan.File.Secrets.Masked(document with
        {
            Host = OfHost(MachineFacts.Read()),
            Servers = servers.Versions,
            Named = servers.Named,
            Lacks = servers.LacksOf(plan.File),
            Disk = document.Disk is null ? null : document.Disk with { Folder = place.Path, FileSystem = place.FileSystem },
            Rounds = [],
        });
        if (document.DifferencesFrom(now).ToList() is { Count: > 0 } differences)
            throw StoredSubject.Other(InTheFolder, $"another machine, server, disk or source of moments ({string.Join("; ", differences)})");
    }

    private string InTheFolder => $"{plan.Folder} has the drain";

    private DrainDocument Begin(string fingerprint)
    {
        var file = plan.File;
        if (!folder.Exists)
        {
            return new DrainDocument
            {
                Name = file.Name,
                StartedUtc = DateTimeOffset.UtcNow,
                Fingerprint = fingerprint,
                ProofFile = file.Text,
                Given = file.Given,
                Service = StoredSubject.FingerprintOf(file),
                Messages = plan.Messages,
                WarmUp = plan.WarmUp,
                RoundTrip = plan.RoundTrip.NameUnlessDirect,
                Planned = plan.Rounds,
                Host = OfHost(MachineFacts.Read()),
            };
        }

        var stored = folder.LoadDocument();
        StoredSubject.Require(file, fingerprint, InTheFolder, stored.ProofFile, stored.Given, stored.Fingerprint, stored.Service);
        if (stored.RoundTrip != plan.RoundTrip.NameUnlessDirect)
            throw StoredSubject.Other(InTheFolder, $"another distance: --rtt {stored.RoundTrip ?? RoundTripTime.Direct.Name}");
        return (stored.Messages, stored.WarmUp) == (plan.Messages, plan.WarmUp)
            ? stored.With(plan.Rounds)
            : throw StoredSubject.Other(InTheFolder, $"{Figures.Count(stored.Messages, "message")} after a warm-up of {Figures.Count(stored.WarmUp)}");
    }

    private static HostFacts OfHost(MachineFacts machine) =>
        new(machine.Cores, machine.CpuModel, machine.TotalMemoryBytes, machine.OperatingSystem, machine.Runtime);

    /// <summary>Tells the progress every few seconds.</summary>
    private sealed class Told(Action<int> tell) : IProgress<int>
    {
        private static readonly TimeSpan Between = TimeSpan.FromSeconds(5);

        private readonly Stopwatch sinceTold = Stopwatch.StartNew();

        public void Report(int value)
        {
            if (sinceTold.Elapsed < Between)
                return;
            sinceTold.Restart();
            tell(value);
        }
    }
}

/// <summary>The plan of one <c>drain</c>.</summary>
/// <param name="Messages">Measured messages in each round.</param>
/// <param name="WarmUp">Messages that the same process handles before those.</param>
/// <param name="Rounds">Rounds that are asked for.</param>
internal sealed record DrainPlan(ProofFile File, string Folder, int Messages, int WarmUp, int Rounds)
{
    /// <summary>Time without progress after which a round is given up: longer than a service takes to start, or a checkpoint or a lock delays it.</summary>
    public TimeSpan StallLimit { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>The last round that is made now, if the other rounds follow later; <see langword="null"/>: all are made.</summary>
    public int? UpTo { get; init; }

    /// <inheritdoc cref="Drain.Quiet"/>
    public TimeSpan Quiet { get; init; } = Drain.DefaultQuiet;

    /// <summary>The distance of the service from its servers.</summary>
    public RoundTripTime RoundTrip { get; init; } = RoundTripTime.Direct;

    /// <summary>The servers of the user.</summary>
    public NamedServers Named { get; init; } = NamedServers.None;

    /// <summary>A plan for a file, whose rows are timed by the commits in the database's log.</summary>
    /// <exception cref="KitException">No message can wait while the service is stopped.</exception>
    public static DrainPlan Of(ProofFile file, string folder, int messages, int warmUp, int rounds) => file.Send is SendByHttp
        ? throw new KitException(
            $"{file.Path}: 'send.http' sends to the service itself, and 'drain' puts the messages in while it is stopped.",
            "Measured can be what waits in a queue or a table: name 'send.queue', 'send.sql' or 'send.command' in a copy of the file.")
        { IsUsage = true }
        : new DrainPlan(file.WithTimedRows, folder, messages, warmUp, rounds);
}
