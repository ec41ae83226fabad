using System.Transactions;
using Kit.Endpoints.NServiceBus;
using Kit.Modes;
using NServiceBus;
using NServiceBus.Configuration.AdvancedExtensibility;
using NServiceBus.Settings;
using NServiceBus.Transport;

namespace Kit.Tests.NServiceBus;

/// <summary>What the library's methods set, for every transport and mode; the contract suite tests what comes of it where there is a server.</summary>
public sealed class ConfiguredEndpoints
{
    private const string SqlServer = "Server=nowhere;Database=queues;Max Pool Size=100";
    private const string PostgreSql = "Host=nowhere;Database=queues";
    private const string RabbitMq = "amqp://nowhere";
    private const string Directory = "queues";

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
            Assert.That(settings.ErrorQueueAddress(), Is.EqualTo("given-up"));
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
    public void Receives_are_read_committed()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(((SqlServerTransport)TransportOf("sqlserver")).TransactionScope.IsolationLevel, Is.EqualTo(IsolationLevel.ReadCommitted));
            Assert.That(((PostgreSqlTransport)TransportOf("postgresql")).TransactionScope.IsolationLevel, Is.EqualTo(IsolationLevel.ReadCommitted));
        }
    }

    [Test]
    public void Connection_strings_reach_the_transport()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(((SqlServerTransport)TransportOf("sqlserver")).ConnectionString, Is.EqualTo(SqlServer));
            Assert.That(((PostgreSqlTransport)TransportOf("postgresql")).ConnectionString, Is.EqualTo(PostgreSql));
            Assert.That(((LearningTransport)TransportOf("learning")).StorageDirectory, Is.EqualTo(Directory));
        }
    }

    [Test]
    public void RabbitMq_has_the_prefetch_of_the_other_endpoints_and_no_queues_for_delays()
    {
        var transport = (RabbitMQTransport)TransportOf("rabbitmq");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(transport.PrefetchCountCalculation(2), Is.EqualTo(32));
            Assert.That(transport.SupportsDelayedDelivery, Is.False);
            Assert.That(transport.ValidateDeliveryLimits, Is.True);
        }
    }

    [TestCase("postgresql", "full-dtc", "PostgreSqlTransport offers None, ReceiveOnly, SendsAtomicWithReceive and not TransactionScope")]
    [TestCase("learning", "full-dtc", "LearningTransport offers None, ReceiveOnly, SendsAtomicWithReceive and not TransactionScope")]
    [TestCase("rabbitmq", "full-dtc", "RabbitMQTransport offers ReceiveOnly and not TransactionScope")]
    [TestCase("postgresql", "full-dtc-promoted", "PostgreSqlTransport offers None, ReceiveOnly, SendsAtomicWithReceive and not TransactionScope")]
    [TestCase("learning", "full-dtc-promoted", "LearningTransport offers None, ReceiveOnly, SendsAtomicWithReceive and not TransactionScope")]
    [TestCase("rabbitmq", "full-dtc-promoted", "RabbitMQTransport offers ReceiveOnly and not TransactionScope")]
    [TestCase("rabbitmq", "transactions-off", "RabbitMQTransport offers ReceiveOnly and not None: a message stays in its queue until it was handled")]
    [TestCase("sqlserver", "shared", "SqlClient wants the transaction on each command")]
    [TestCase("rabbitmq", "shared", "its queues are not tables")]
    [TestCase("learning", "shared", "its queues are not tables")]
    [TestCase("sqlserver", "npgsql-scope", "compared on the bare endpoint")]
    public void A_mode_that_the_transport_does_not_offer_is_refused_with_the_reason(string transport, string mode, string reason) =>
        Assert.That(() => Configured(transport, TransactionMode.Parse(mode)), Throws.TypeOf<NotSupportedException>().With.Message.Contains(reason));

    [TestCaseSource(nameof(Transports))]
    public void Less_than_one_message_at_a_time_is_refused(string transport) =>
        Assert.That(
            () => Configured(transport, TransactionMode.DtcOff, concurrency: 0),
            Throws.TypeOf<ArgumentOutOfRangeException>().With.Message.Contains("concurrency"));

    [TestCaseSource(nameof(Transports))]
    public void An_empty_error_queue_is_refused(string transport) =>
        Assert.That(() => Configured(transport, TransactionMode.DtcOff, errorQueue: " "), Throws.ArgumentException.With.Message.Contains("errorQueue"));

    [Test]
    public void An_empty_address_is_refused()
    {
        var endpoint = new EndpointConfiguration("orders");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(() => endpoint.UseSqlServer("", TransactionMode.DtcOff), Throws.ArgumentException);
            Assert.That(() => endpoint.UsePostgreSql("", TransactionMode.DtcOff), Throws.ArgumentException);
            Assert.That(() => endpoint.UseRabbitMq("", TransactionMode.DtcOff, QueueType.Classic), Throws.ArgumentException);
            Assert.That(() => endpoint.UseLearning("", TransactionMode.DtcOff), Throws.ArgumentException);
        }
    }

    [Test]
    public void No_prefetch_is_refused() => Assert.That(
        () => new EndpointConfiguration("orders").UseRabbitMq(RabbitMq, TransactionMode.DtcOff, QueueType.Classic, prefetch: 0),
        Throws.TypeOf<ArgumentOutOfRangeException>());

    private static TransportDefinition TransportOf(string transport) => Configured(transport, TransactionMode.DtcOff).Get<TransportDefinition>();

    private static SettingsHolder Configured(
        string transport, TransactionMode mode, int concurrency = 3, string errorQueue = "given-up", TimeSpan? transactionTimeout = null)
    {
        var endpoint = new EndpointConfiguration("orders");
        switch (transport)
        {
            case "sqlserver":
                endpoint.UseSqlServer(SqlServer, mode, concurrency, errorQueue, transactionTimeout);
                break;
            case "postgresql":
                endpoint.UsePostgreSql(PostgreSql, mode, concurrency, errorQueue, transactionTimeout);
                break;
            case "rabbitmq":
                endpoint.UseRabbitMq(RabbitMq, mode, QueueType.Classic, concurrency, errorQueue, transactionTimeout: transactionTimeout);
                break;
            default:
                endpoint.UseLearning(Directory, mode, concurrency, errorQueue, transactionTimeout);
                break;
        }

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
}
