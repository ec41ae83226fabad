using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;

namespace Kit.Prove.Loads;

/// <summary>All loads of one command. Each result is saved at once.</summary>
/// <param name="between">Time between reports of the progress: 1 s or longer.</param>
/// <param name="tell">Receives it.</param>
/// <param name="ended">Receives each result.</param>
/// <param name="say">Receives a line about each step.</param>
internal sealed class ServiceLoadRun(
    ServiceLoadPlan plan, TimeSpan between, Action<CellName, LoadProgress> tell, Action<LoadResult, LoadSettings> ended, Action<string> say)
{
    private readonly LoadFolder folder = new(plan.Folder);

    /// <summary>Runs them, or those until it is stopped.</summary>
    /// <exception cref="KitException">The file does not fit the service, a server does not start, or the folder cannot be written.</exception>
    /// <exception cref="OperationCanceledException">It was stopped before the first message was sent. Nothing was saved.</exception>
    public async Task<LoadDocument> RunAsync(CancellationToken stop)
    {
        var (file, machine) = (plan.File, MachineFacts.Read());
        var users = plan.Shapes.OfType<ClosedLoad>().FirstOrDefault();
        var settings = new LoadSettings(plan.Length.TotalSeconds, Concurrency: null, SeedRows: null, plan.WarmUp, plan.Senders, plan.LimitMilliseconds)
        {
            TimeoutSeconds = plan.Timeout.TotalSeconds,
            ThinkMilliseconds = users?.Think.TotalMilliseconds,
            RampSeconds = users?.Ramp.TotalSeconds,
            RoundTrip = plan.RoundTrip.NameUnlessDirect,
        };
        await using var servers = await ProofServers.StartAsync(file, plan.Named, say, stop);
        servers.RequireMoments(file, asTheyCome: true);
        foreach (var line in servers.Announced)
            say(line);
        say("One undisturbed message …");
        await new Trial(file, servers, say).RunAsync(stop);
        var document = new LoadDocument
        {
            CommandLine = plan.CommandLine,
            StartedUtc = DateTimeOffset.UtcNow,
            Commit = null,
            Host = new HostFacts(machine.Cores, machine.CpuModel, machine.TotalMemoryBytes, machine.OperatingSystem, machine.Runtime),
            Packages = new Dictionary<string, string>(),
            Servers = servers.Versions,
            Named = servers.Named,
            Standbys = file.Effects.OfType<RowEffect>().Any() ? servers.Standbys : null,
            Disk = servers.AreOwn ? ServerPlace.Choose(allowsMemory: true).MeasureDisk() : null,
            Settings = settings,
            Service = new LoadedServiceFacts(file.Text, file.Given, Build.FingerprintOf(AppContext.BaseDirectory)),
            // Until the last load has ended: the process can die before.
            IsStopped = true,
        };
        try
        {
            await RateSearch.LoadAsync(plan.Shapes, plan.Length, plan.LimitMilliseconds, plan.Shares, TryAsync);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested && document.Results.Count > 0)
        {
            return document;
        }

        document = document with { IsStopped = false };
        folder.Save(document);
        return document;

        async Task<LoadResult> TryAsync(LoadShape shape, double? share)
        {
            stop.ThrowIfCancellationRequested();
            var load = new ServiceLoad(plan, servers, between, progress => tell(CellName.OfService(file.Name), progress));
            var result = await load.RunAsync(shape, stop) with { ShareOfFound = share };
            document = file.Secrets.Masked(document with { Results = [.. document.Results, result] });
            // First it is told: a disk can be full.
            ended(document.Results[^1], settings);
            folder.Save(document);
            stop.ThrowIfCancellationRequested();
            return result;
        }
    }
}

/// <summary>The plan of one <c>load</c>.</summary>
/// <param name="Shapes">One after the other; with <paramref name="LimitMilliseconds"/>, the rate with which the search begins.</param>
/// <param name="Length">Duration of the sending.</param>
/// <param name="LimitMilliseconds">Search the highest rate with a p99 of the latency up to this; <see langword="null"/>: nothing is searched.</param>
/// <param name="Shares">In a search: the fractions of the highest rate, 0 to 1, that are loaded after it.</param>
/// <param name="Timeout">A message without its effects after this time has failed.</param>
/// <param name="WarmUp">Messages handled before, in the same process.</param>
/// <param name="Senders">The most sends that can be under way at the same time.</param>
/// <param name="CommandLine">As typed.</param>
internal sealed record ServiceLoadPlan(
    ProofFile File, string Folder, IReadOnlyList<LoadShape> Shapes, TimeSpan Length, double? LimitMilliseconds, IReadOnlyList<double> Shares,
    TimeSpan Timeout, int WarmUp, int Senders, string CommandLine)
{
    /// <summary>The distance of the service from its servers.</summary>
    public RoundTripTime RoundTrip { get; init; } = RoundTripTime.Direct;

    /// <summary>The servers of the user.</summary>
    public NamedServers Named { get; init; } = NamedServers.None;
}
