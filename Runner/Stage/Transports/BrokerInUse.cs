using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.Stage.Transports;

/// <summary>The RabbitMQ broker of a command.</summary>
internal sealed class BrokerInUse : ServerInUse
{
    private readonly RabbitMqTransport transport;
    private readonly PrivateRabbitMq? own;
    private readonly RabbitMqAddress address;
    private readonly QueueType queueType;
    private readonly string version;
    private IReadOnlyList<int>? processes;
    private IReadOnlyList<string> warnings = [];

    private BrokerInUse(RabbitMqTransport transport, RabbitMqAddress address, string version, QueueType queueType, PrivateRabbitMq? own)
    {
        this.transport = transport;
        this.address = address;
        this.version = version;
        this.queueType = queueType;
        this.own = own;
    }

    private PrivateRabbitMq Own => own ?? throw new InvalidOperationException("The broker is the user's, and is neither stopped nor changed.");

    public override IReadOnlyList<int>? Processes => processes;

    public override string Version => version;

    public override IReadOnlyList<string> Warnings => warnings;

    public override IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>
    {
        [ConnectionStrings.RabbitMqVariable] = address.Amqp.AbsoluteUri,
        [ConnectionStrings.RabbitMqManagementVariable] = address.Management.AbsoluteUri,
    };

    /// <exception cref="KitException">The named broker cannot be used, or the kit's own does not start.</exception>
    public static async Task<BrokerInUse> OpenAsync(
        RabbitMqTransport transport, RabbitMqAddress? named, QueueType queueType, bool allowsMemory, CancellationToken cancellationToken)
    {
        if (named is not null)
        {
            var facts = await RabbitMqFacts.RequireAsync(named, cancellationToken);
            return new BrokerInUse(transport, named, facts.Version, queueType, own: null)
            {
                warnings = [.. facts.Findings().Select(finding => finding.Problem).OfType<string>()],
            };
        }

        var started = await PrivateRabbitMq.StartAsync(ServerPlace.Choose(allowsMemory).Path, cancellationToken);
        return new BrokerInUse(transport, started.Address, started.Version.ToString(), queueType, started)
        {
            processes = await started.FindPidsAsync(),
        };
    }

    public override Task<IReadOnlyDictionary<string, string>?> ReadFactsAsync(CancellationToken cancellationToken)
    {
        var facts = transport.FactsOf(this);
        facts["version"] = version;
        facts["queues"] = $"{queueType.ToString().ToLowerInvariant()}, durable";
        facts["messages"] = "persistent, each publish confirmed" + string.Concat(
            SendsInMemory.All.Where(cell => cell.Transport == transport.Name)
                .Select(cell => $"; not persistent: the sends of {cell.Framework} in {cell.Mode}"));
        facts["prefetch"] =
            $"{RabbitMqTransportSettings.MeasuredPrefetch}, or one message for each handler (no limit without acknowledgements: transactions-off)";
        return Task.FromResult<IReadOnlyDictionary<string, string>?>(facts);
    }

    public override Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync(CancellationToken cancellationToken) =>
        own is null ? BrokerSpace.RemoveLeftoversAsync(address, cancellationToken) : base.RemoveLeftoversAsync(cancellationToken);

    /// <summary>A virtual host of its own, or names of its own in the given one.</summary>
    public override async Task<RoundTransport> OpenAsync(
        Cell cell, string queue, IQueueStore databases, CancellationToken cancellationToken)
    {
        var space = await BrokerSpace.CreateAsync(address, cancellationToken);
        var settings = new RabbitMqTransportSettings(space.Address, queueType).Text;
        return new RoundTransport(space.NameOf(queue), settings, settings, space.DisposeAsync);
    }

    /// <summary>Makes the kit's own broker refuse larger messages, on channels that are opened from now on.</summary>
    /// <param name="bytes">Size of the largest body that it takes.</param>
    /// <exception cref="InvalidOperationException">The broker is the user's.</exception>
    /// <exception cref="KitException">It refuses.</exception>
    public Task LimitMessagesAsync(int bytes, CancellationToken cancellationToken) =>
        Own.ControlAsync(["eval", $"application:set_env(rabbit, max_message_size, {bytes})."], cancellationToken);

    public override async Task<string> CrashAsync(CancellationToken cancellationToken)
    {
        var before = string.Join(", ", processes ?? []);
        await Own.StopImmediatelyAsync();
        await Own.RestartAsync(cancellationToken);
        processes = await Own.FindPidsAsync();
        return $"the broker (process {before}) was killed and started again";
    }

    /// <summary>Kills the broker as <see cref="CrashAsync"/> does: a broker's crash is a SIGKILL, and the processes that it has started end with it.</summary>
    public override Task<string> KillAsync(CancellationToken cancellationToken) => CrashAsync(cancellationToken);

    public override ValueTask DisposeAsync() => own?.DisposeAsync() ?? ValueTask.CompletedTask;
}
