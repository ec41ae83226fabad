using Kit.Runner.Results;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds.Comparing;

/// <summary>
/// The servers that both builds use: the named ones, or the kit's own, started once. Two servers of one kind can differ (place of their
/// files, content of their caches); a shared one cannot, and nothing is started between two rounds.
/// </summary>
internal sealed class SharedServers : IAsyncDisposable
{
    private readonly ComparePlan plan;
    private readonly ServersInUse servers = new();
    private DiskFacts? disk;

    private SharedServers(ComparePlan plan) => this.plan = plan;

    /// <summary>The environment variables that name the servers to a build; one is <see langword="null"/> if no server was named or is needed.</summary>
    public IReadOnlyDictionary<string, string?> Variables
    {
        get
        {
            var variables = Transport.All.SelectMany(transport => transport.Settings).Where(setting => setting.Variable is not null)
                .ToDictionary(setting => setting.Variable!, setting => plan.Arguments[setting]);
            foreach (var (name, value) in servers.All.SelectMany(one => one.Server.Variables))
                variables[name] = value;

            return variables;
        }
    }

    /// <exception cref="KitException">A named server cannot be used, or one of the kit's own does not start.</exception>
    public static async Task<SharedServers> OpenAsync(ComparePlan plan, IRunDisplay display, CancellationToken cancellationToken)
    {
        var shared = new SharedServers(plan);
        try
        {
            // If there is none here, each build says so and leaves its cells out.
            foreach (var transport in Transport.NeededBy(plan.Transports).Where(transport => plan.Here[transport].IsSupported))
            {
                if (!transport.IsNamed(plan.Arguments) && transport.Own is { } what)
                    display.Note($"Starting {what} of the kit's own, for both builds.");
                await shared.servers.StartAsync(transport, plan.Arguments, cancellationToken);
            }

            shared.disk = shared.servers.MeasureDisk();
            return shared;
        }
        catch
        {
            await shared.servers.DisposeAsync();
            throw;
        }
    }

    /// <summary>Corrects the owner and the disk of the servers in a side's facts: a build assumes that a named server is the user's.</summary>
    public RunDocument Owned(RunDocument document) => servers.All.Where(one => one.Server.IsOwn)
        .Aggregate(document with { Disk = disk }, (described, one) => one.Transport.DescribeAsOwn(described));

    /// <summary>
    /// The load from other processes between two samples. A build cannot measure it: it does not know the servers' processes. Both builds are children of
    /// this process.
    /// </summary>
    public Noise NoiseBetween(CpuSample? start, CpuSample? end) => servers.All.Any(one => one.Server.Processes is null)
        ? CpuUse.NoiseNextToAServerOfOthers
        : CpuUse.NoiseOf(
            start is null || end is null ? null : CpuUse.Between(start, end, new HashSet<int>([Environment.ProcessId, .. servers.Processes])));

    public async ValueTask DisposeAsync()
    {
        try
        {
            // A killed build leaves databases on the user's server.
            foreach (var (_, server) in servers.All.Where(one => !one.Server.IsOwn))
                await server.RemoveLeftoversAsync(CancellationToken.None);
        }
        finally
        {
            await servers.DisposeAsync();
        }
    }
}
