using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Operations;
using Kit.Runner.Wire;

namespace Kit.Runner.Stage.Transports;

/// <summary>Queues in RabbitMQ; the widgets are in PostgreSQL.</summary>
internal sealed class RabbitMqTransport : Transport
{
    private static readonly TransportSetting ServerSetting = new(
        ConnectionStrings.RabbitMqOption,
        $"URI of a RabbitMQ broker to use, amqp:// or amqps://; or environment {ConnectionStrings.RabbitMqVariable}. " +
        "Without it the kit starts its own broker.",
        "uri")
    { Variable = ConnectionStrings.RabbitMqVariable };

    private static readonly TransportSetting Management = new(
        ConnectionStrings.RabbitMqManagementOption,
        "Address of that broker's management plugin, by default port 15672 of its machine; " +
        $"or environment {ConnectionStrings.RabbitMqManagementVariable}.",
        "url")
    { Variable = ConnectionStrings.RabbitMqManagementVariable };

    private static readonly TransportSetting QueueTypeSetting = new(
        "--queue-type", $"RabbitMQ's queue type ({QueueType.Classic.ToString().ToLowerInvariant()}).", "classic|quorum")
    {
        Names = [.. Enum.GetNames<QueueType>().Select(name => name.ToLowerInvariant())],
    };

    // Instead of the runner's broker, its user and password.
    private static readonly RabbitMqAddress Nowhere = RabbitMqAddress.Parse("amqp://worker");

    public override string Name => TransportName.RabbitMq;

    public override string Title => "RabbitMQ";

    public override Transport Widgets => Named(TransportName.PostgreSql);

    public override int Prefetch => RabbitMqTransportSettings.MeasuredPrefetch;

    public override bool IsBroker => true;

    public override ArrivalClock? Arrivals => ArrivalClock.Receipt;

    public override string? Own => "a RabbitMQ broker";

    public override TransportSetting? Server => ServerSetting;

    public override IReadOnlyList<TransportSetting> Settings => [ServerSetting, Management];

    public override IReadOnlyList<TransportSetting> Choices => [QueueTypeSetting];

    public override ProxyRoute? ProxyRoute { get; } = new(
        address =>
        {
            var broker = RabbitMqTransportSettings.Parse(address).Broker.Amqp;
            return (broker.Host, broker.Port);
        },
        Through)
    {
        Wire = () => new AmqpWire(),
    };

    public override WorkerRoute? WorkerRoute { get; } = new(
        address =>
        {
            var settings = RabbitMqTransportSettings.Parse(address);
            return (settings with { Broker = Nowhere.In(settings.Broker.VirtualHost) }).Text;
        },
        (arguments, place) =>
        {
            var settings = RabbitMqTransportSettings.Parse(place);
            return (settings with { Broker = BrokerOf(arguments)!.In(settings.Broker.VirtualHost) }).Text;
        },
        async (arguments, cancellationToken) =>
        {
            try
            {
                await RabbitMqFacts.ReadVersionAsync(BrokerOf(arguments)!, cancellationToken);
            }
            catch (KitException failure)
            {
                throw WorkerRoute.Explain(failure);
            }
        })
    {
        Description = "URI of the run's RabbitMQ broker, as this machine reaches it; needed if the run has cells on RabbitMQ.",
    };

    public override ExistingQueue? ExistingQueue { get; } = new(
        "URI of the queue's broker and virtual host, amqp:// or amqps://.", DeadLettersOnRabbitMq.Open);

    protected override string WhoseKey => "broker";

    public override Support SupportHere(TransportArguments arguments) =>
        BrokerOf(arguments) is null ? PrivateRabbitMq.FindSupport() : Support.Yes;

    public override async Task<IReadOnlyList<Lack>> CheckAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        [.. Lack.OfEveryCell((await RabbitMqFacts.ReadAsync(BrokerOf(arguments)!, cancellationToken)).Findings())];

    public override async Task<ServerInUse> StartAsync(TransportArguments arguments, CancellationToken cancellationToken)
    {
        var queueType = arguments[QueueTypeSetting] is { } typed ? Enum.Parse<QueueType>(typed, ignoreCase: true) : QueueType.Classic;
        return await BrokerInUse.OpenAsync(this, BrokerOf(arguments), queueType, arguments.AllowsMemory, cancellationToken);
    }

    public override async Task<IReadOnlyList<Finding>> ExamineAsync(
        TransportArguments arguments, CancellationToken cancellationToken) =>
        [PrivateRabbitMq.Examine(isNeeded: !IsNamed(arguments), "The cells on RabbitMQ are left out."), .. await BrokerAsync(arguments, cancellationToken)];

    public override Task WaitForNoConsumerAsync(string address, string queue, CancellationToken cancellationToken) =>
        BrokerQueues.WaitForNoConsumerAsync(RabbitMqTransportSettings.Parse(address).Broker, [queue], cancellationToken);

    public override async Task<IAsyncDisposable> RefuseAsync(
        string address, string queue, QueueTable table, CancellationToken cancellationToken) =>
        await RefusingQueue.MakeAsync(RabbitMqTransportSettings.Parse(address).Broker, queue, cancellationToken);

    public override RunDocument Describe(RunDocument document, IReadOnlyDictionary<string, string> facts) =>
        document with { Broker = facts };

    protected override IReadOnlyDictionary<string, string>? FactsIn(RunDocument document) => document.Broker;

    private static RabbitMqAddress? BrokerOf(TransportArguments arguments) =>
        arguments[ServerSetting] is { } named ? NamedBroker.Parse(named, arguments[Management]) : null;

    private static string Through(string address, int port)
    {
        var settings = RabbitMqTransportSettings.Parse(address);
        var proxied = new UriBuilder(settings.Broker.Amqp) { Host = "127.0.0.1", Port = port };
        return (settings with { Broker = RabbitMqAddress.Parse(proxied.Uri.AbsoluteUri, settings.Broker.Management.AbsoluteUri) }).Text;
    }

    private static async Task<IEnumerable<Finding>> BrokerAsync(TransportArguments arguments, CancellationToken cancellationToken)
    {
        const string what = "RabbitMQ broker";
        if (arguments[ServerSetting] is not { } named)
            return [new Finding(what, "none named; the kit starts its own if it finds the programs, with durability on")];
        try
        {
            return Lack.NoneFatal((await RabbitMqFacts.ReadAsync(BrokerOf(arguments)!, cancellationToken)).Findings());
        }
        catch (KitException unusable)
        {
            return [new Finding(what, ConnectionStrings.Mask(named), unusable.Message, unusable.Remedy, IsFatal: true)];
        }
    }
}
