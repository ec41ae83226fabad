using System.Transactions;
using Kit.Modes;
using NServiceBus;
using NServiceBus.Configuration.AdvancedExtensibility;
using NServiceBus.Settings;
using NServiceBus.Transport;

namespace Kit.Tests.NServiceBus;

/// <summary>What the library sets, for every transport and mode, and what not; the contract suite tests what comes of it where there is a server.</summary>
public sealed class ConfiguredEndpoints
{
    private static readonly string[] Transports = ["sqlserver", "postgresql", "rabbitmq", "learning"];

    [TestCase("sqlserver", "full-dtc", TransportTransactionMode.TransactionScope)]
    [TestCase("sqlserver", "full-dtc-promoted", TransportTransactionMode.TransactionScope)]
    [TestCase("sqlserver", "dtc-off", TransportTransactionMode.SendsAtomicWithReceive)]
    [TestCase("sqlserver", "scope-off", TransportTransactionMode.SendsAtomicWithReceive)]
    [TestCase("sqlserver", "transactions-off", TransportTransactionMode.None)]
    [TestCase("postgresql", "shared", TransportTransactionMode.SendsAtomicWithReceive)]
    [TestCase("postgresql", "dtc-off", TransportTransactionMode.SendsAtomicWithReceive)]
    [TestCase("postgresql", "scope-off", TransportTransactionMode.SendsAtomicWithReceive)]
    [TestCase("postgresql", "transactions-off", TransportTransactionMode.None)]
    [TestCase("rabbitmq", "dtc-off", TransportTransactionMode.ReceiveOnly)]
    [TestCase("rabbitmq", "scope-off", TransportTransactionMode.ReceiveOnly)]
    [TestCase("learning", "dtc-off", TransportTransactionMode.SendsAtomicWithReceive)]
    [TestCase("learning", "scope-off", TransportTransactionMode.SendsAtomicWithReceive)]
    [TestCase("learning", "transactions-off", TransportTransactionMode.None)]
    public void Transaction_mode_retries_and_wrap_are_the_modes(string transport, string name, TransportTransactionMode expected)
    {
        var mode = TransactionMode.Parse(name);

        var settings = Configured(transport, mode);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(settings.Get<TransportDefinition>().TransportTransactionMode, Is.EqualTo(expected));
            Assert.That(settings.Get<int>("Recoverability.Immediate.Retries"), Is.EqualTo(expected is TransportTransactionMode.None ? 0 : 2));
            Assert.That(settings.Get<int>("Recoverability.Delayed.DefaultPolicy.Retries"), Is.Zero);
            Assert.That(WrapOf(settings)?.IsolationLevel, mode == TransactionMode.DtcOff ? Is.EqualTo(IsolationLevel.ReadCommitted) : Is.Null);
        }
    }

    /// <summary>The scope's own time-out would roll back while the handler runs; what was asked for is judged when it has returned.</summary>
    [TestCaseSource(nameof(Transports))]
    public void The_wrap_has_the_longest_time_out_that_the_process_allows(string transport) =>
        Assert.That(WrapOf(Configured(transport, TransactionMode.DtcOff))?.Timeout, Is.EqualTo(TransactionManager.MaximumTimeout));

    [TestCaseSource(nameof(Transports))]
    public void A_time_out_that_dotnet_would_shorten_is_refused(string transport) => Assert.That(
        () => Configured(transport, TransactionMode.DtcOff, transactionTimeout: TimeSpan.FromMinutes(30)),
        Throws.TypeOf<ArgumentOutOfRangeException>().With.Message.Contains("TransactionManager.MaximumTimeout = TimeSpan.FromMinutes(30);"));

    [Test]
    public void The_time_out_of_full_dtc_is_the_transport_s() => Assert.That(
        ((SqlServerTransport)Configured("sqlserver", TransactionMode.FullDtc, transactionTimeout: TimeSpan.FromMinutes(2)).Get<TransportDefinition>())
            .TransactionScope.Timeout,
        Is.EqualTo(TimeSpan.FromMinutes(2)));

    [Test]
    public void Receives_are_read_committed_whatever_the_transport_was_set_to()
    {
        var sqlServer = (SqlServerTransport)TransportOf("sqlserver");
        sqlServer.TransactionScope.IsolationLevel = IsolationLevel.Serializable;
        var postgreSql = (PostgreSqlTransport)TransportOf("postgresql");
        postgreSql.TransactionScope.IsolationLevel = IsolationLevel.Serializable;

        new EndpointConfiguration("orders").UseTransactionMode(sqlServer, TransactionMode.DtcOff);
        new EndpointConfiguration("orders").UseTransactionMode(postgreSql, TransactionMode.DtcOff);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(sqlServer.TransactionScope.IsolationLevel, Is.EqualTo(IsolationLevel.ReadCommitted));
            Assert.That(postgreSql.TransactionScope.IsolationLevel, Is.EqualTo(IsolationLevel.ReadCommitted));
        }
    }

    [TestCaseSource(nameof(Transports))]
    public void What_is_no_part_of_a_mode_is_left_to_the_user(string transport)
    {
        var before = new EndpointConfiguration("orders").GetSettings();

        var settings = Configured(transport, TransactionMode.ScopeOff, out var endpoint);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(settings.ErrorQueueAddress(), Is.EqualTo(before.ErrorQueueAddress()));
            Assert.That(ConfiguredCells.ConcurrencyOf(settings), Is.Null);
            Assert.That(ConfiguredCells.SerializerOf(settings), Is.Null);
            Assert.That(endpoint.AssemblyScanner().Disable, Is.False);
        }
    }

    [TestCase("postgresql", "full-dtc", "its receive takes no part in a distributed transaction. TwoPhasePostgreSqlTransport (package")]
    [TestCase("learning", "full-dtc", "LearningTransport offers None, ReceiveOnly, SendsAtomicWithReceive and not TransactionScope")]
    [TestCase("rabbitmq", "full-dtc", "RabbitMQTransport offers ReceiveOnly and not TransactionScope")]
    [TestCase("postgresql", "full-dtc-promoted", "PostgreSqlTransport offers None, ReceiveOnly, SendsAtomicWithReceive and not TransactionScope")]
    [TestCase("learning", "full-dtc-promoted", "LearningTransport offers None, ReceiveOnly, SendsAtomicWithReceive and not TransactionScope")]
    [TestCase("rabbitmq", "full-dtc-promoted", "RabbitMQTransport offers ReceiveOnly and not TransactionScope")]
    [TestCase("rabbitmq", "transactions-off", "RabbitMQTransport offers ReceiveOnly and not None: a message stays in its queue until it has been handled")]
    [TestCase("sqlserver", "shared", "SqlClient requires the transaction on each command")]
    [TestCase("rabbitmq", "shared", "its queues are not tables")]
    [TestCase("learning", "shared", "its queues are not tables")]
    [TestCase("sqlserver", "npgsql-scope", "the bare endpoint has it for comparison")]
    public void A_mode_that_the_transport_does_not_offer_is_refused_with_the_reason(string transport, string mode, string reason) =>
        Assert.That(() => Configured(transport, TransactionMode.Parse(mode)), Throws.TypeOf<NotSupportedException>().With.Message.Contains(reason));

    /// <summary>It says that it has the mode, and nobody has looked.</summary>
    [Test]
    public void A_transport_that_was_not_tried_is_refused_with_those_that_were() => Assert.That(
        () => new EndpointConfiguration("orders").UseTransactionMode(new Untried(), TransactionMode.DtcOff),
        Throws.TypeOf<NotSupportedException>().With.Message.EqualTo(
            "NServiceBus cannot run in dtc-off: Untried was not tried. " +
            "Known transports: SqlServerTransport, PostgreSqlTransport, RabbitMQTransport, LearningTransport."));

    internal static TransportDefinition TransportOf(string transport) => transport switch
    {
        "sqlserver" => new SqlServerTransport("Server=nowhere;Database=queues;Max Pool Size=100"),
        "postgresql" => new PostgreSqlTransport("Host=nowhere;Database=queues"),
        "rabbitmq" => new RabbitMQTransport(RoutingTopology.Conventional(QueueType.Classic), "amqp://nowhere"),
        "learning" => new LearningTransport { StorageDirectory = "queues" },
        _ => throw new ArgumentOutOfRangeException(nameof(transport), transport, "No such transport."),
    };

    private static SettingsHolder Configured(string transport, TransactionMode mode, TimeSpan? transactionTimeout = null) =>
        Configured(transport, mode, out _, transactionTimeout);

    private static SettingsHolder Configured(
        string transport, TransactionMode mode, out EndpointConfiguration endpoint, TimeSpan? transactionTimeout = null)
    {
        endpoint = new EndpointConfiguration("orders");
        endpoint.UseTransactionMode(TransportOf(transport), mode, transactionTimeout);
        return endpoint.GetSettings();
    }

    /// <summary>What the wrap around the handlers was asked to be. NServiceBus keeps it in a type of its own.</summary>
    internal static TransactionOptions? WrapOf(IReadOnlySettings settings)
    {
        const string Wrap = "NServiceBus.Features.TransactionScopeUnitOfWork+Settings";
        if (!settings.HasSetting(Wrap))
            return null;

        var wrap = settings.Get(Wrap);
        return (TransactionOptions)wrap.GetType().GetProperty("TransactionOptions")!.GetValue(wrap)!;
    }

    private sealed class Untried() : TransportDefinition(
        TransportTransactionMode.ReceiveOnly, supportsDelayedDelivery: false, supportsPublishSubscribe: false, supportsTTBR: false)
    {
        public override IReadOnlyCollection<TransportTransactionMode> GetSupportedTransactionModes() => Enum.GetValues<TransportTransactionMode>();

        public override Task<TransportInfrastructure> Initialize(
            HostSettings hostSettings, ReceiveSettings[] receivers, string[] sendingAddresses, CancellationToken cancellationToken = default) =>
            throw new NotSupportedException();
    }
}
