using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Transports;

namespace Kit.Runner.Comparing;

/// <summary>
/// The servers that both builds are run on: those that were named, or one of the kit's own each, started once. Two servers of one kind
/// can differ (where their files lie, what their caches hold); one that both use cannot, and nothing is started between two rounds.
/// </summary>
internal sealed class SharedServers : IAsyncDisposable
{
    private readonly ComparePlan plan;
    private readonly RunServers servers = new();
    private DiskFacts? disk;

    private SharedServers(ComparePlan plan) => this.plan = plan;

    /// <summary>What names them to a build; a variable is <see langword="null"/> where no server was named or is needed.</summary>
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
            // Where there is none here, each build says so, and leaves its cells out.
            foreach (var transport in Transport.NeededBy(plan.Transports).Where(transport => plan.Here[transport].IsSupported))
            {
                if (!transport.IsNamed(plan.Arguments) && transport.Own is { } what)
                    display.Note($"Starting {what} of the kit's own, for both builds.");
                await shared.servers.StartAsync(transport, plan.Arguments, cancellationToken);
            }

            shared.disk = shared.servers.MeasureDisk(plan.Arguments);
            return shared;
        }
        catch
        {
            await shared.servers.DisposeAsync();
            throw;
        }
    }

    /// <summary>Says in a side's facts whose servers they were, and on what disk: a build that is given one takes it for the user's.</summary>
    public RunDocument Owned(RunDocument document) => servers.All.Where(one => one.Server.IsOwn)
        .Aggregate(document with { Disk = disk }, (described, one) => one.Transport.DescribeAsOwn(described));

    public async ValueTask DisposeAsync()
    {
        try
        {
            // A build that had to be killed has left databases on a server of the user's.
            foreach (var (_, server) in servers.All.Where(one => !one.Server.IsOwn))
                await server.RemoveLeftoversAsync(CancellationToken.None);
        }
        finally
        {
            await servers.DisposeAsync();
        }
    }
}
