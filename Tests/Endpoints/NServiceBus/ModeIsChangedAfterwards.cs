using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using NServiceBus;

namespace Kit.Tests.NServiceBus;

/// <summary>What gives a mode its name is changed after the mode was set: the endpoint is refused, and is not weaker than its name.</summary>
public sealed class ModeIsChangedAfterwards
{
    private TemporaryFolder folder = null!;
    private LearningTransport transport = null!;

    [SetUp]
    public void SetUp()
    {
        folder = new TemporaryFolder();
        transport = new LearningTransport { StorageDirectory = folder.Path };
    }

    [TearDown]
    public void TearDown() => folder.Dispose();

    [Test]
    public async Task Nothing_was_changed_and_it_starts()
    {
        await using var host = Added(Configured(TransactionMode.DtcOff));

        Assert.That(() => host.StartAsync(), Throws.Nothing);
    }

    [Test]
    public void Of_another_transport() => Refused(
        Configured(TransactionMode.ScopeOff), endpoint => endpoint.UseTransport(new LearningTransport()), "do not call UseTransport.");

    [Test]
    public void By_the_transport_s_own_setting() => Refused(
        Configured(TransactionMode.ScopeOff),
        _ => transport.TransportTransactionMode = TransportTransactionMode.None,
        "The transport's mode was set to None after UseTransactionMode, but scope-off needs SendsAtomicWithReceive: do not set TransportTransactionMode.");

    [Test]
    public async Task By_the_transport_s_own_setting_before_the_start()
    {
        await using var host = Added(Configured(TransactionMode.ScopeOff));
        transport.TransportTransactionMode = TransportTransactionMode.ReceiveOnly;

        Assert.That(() => host.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("was set to ReceiveOnly after UseTransactionMode"));
    }

    [TestCase("scope-off")]
    [TestCase("dtc-off")]
    public void By_a_scope_around_the_handlers(string mode) => Refused(
        Configured(TransactionMode.Parse(mode)),
        endpoint => endpoint.UnitOfWork().WrapHandlersInATransactionScope(),
        "The transaction mode decides whether handlers are wrapped in a TransactionScope: do not call WrapHandlersInATransactionScope.");

    [Test]
    public void By_a_scope_that_was_there_before()
    {
        var endpoint = new EndpointConfiguration("changed");
        endpoint.UnitOfWork().WrapHandlersInATransactionScope();

        Assert.That(
            () => endpoint.UseTransactionMode(transport, TransactionMode.ScopeOff),
            Throws.InvalidOperationException.With.Message.Contains("do not call WrapHandlersInATransactionScope"));
    }

    [Test]
    public void By_an_outbox_that_was_disabled() => Refused(
        TestEndpoint.Configure("changed", new PostgreSqlTransport("Host=nowhere"), TransactionMode.Outbox),
        endpoint => endpoint.DisableFeature<global::NServiceBus.Features.Outbox>(),
        "NServiceBus's outbox was disabled after UseTransactionMode, and outbox needs it: do not disable the feature.");

    [Test]
    public void By_another_mode()
    {
        var endpoint = Configured(TransactionMode.DtcOff);

        Assert.That(
            () => endpoint.UseTransactionMode(new LearningTransport(), TransactionMode.ScopeOff),
            Throws.InvalidOperationException.With.Message.EqualTo("The endpoint already has the transaction mode dtc-off: call UseTransactionMode only once."));
    }

    /// <summary>They are the user's: a database that is away wants delayed ones.</summary>
    [Test]
    public async Task Other_retries_are_not_refused()
    {
        var endpoint = Configured(TransactionMode.DtcOff);
        endpoint.Recoverability().Delayed(retries => retries.NumberOfRetries(3));
        await using var host = Added(endpoint);

        Assert.That(() => host.StartAsync(), Throws.Nothing);
    }

    private EndpointConfiguration Configured(TransactionMode mode) => TestEndpoint.Configure("changed", transport, mode);

    private static void Refused(EndpointConfiguration endpoint, Action<EndpointConfiguration> change, string message)
    {
        change(endpoint);

        Assert.That(() => Added(endpoint), Throws.InvalidOperationException.With.Message.EndsWith(message));
    }

    private static AddedHost Added(EndpointConfiguration endpoint) => new(endpoint);

    private sealed class AddedHost : IAsyncDisposable
    {
        private readonly IHost host;

        public AddedHost(EndpointConfiguration endpoint)
        {
            var builder = Host.CreateEmptyApplicationBuilder(settings: null);
            endpoint.AddHandler<Nothing>();
            builder.Services.AddNServiceBusEndpoint(endpoint);
            host = builder.Build();
        }

        public Task StartAsync() => host.StartAsync();

        public async ValueTask DisposeAsync()
        {
            await host.StopAsync();
            await ((IAsyncDisposable)host).DisposeAsync();
        }
    }

    // Not private: NServiceBus generates code that names it.
    internal sealed class Nothing : IHandleMessages<BuildWidget>
    {
        public Task Handle(BuildWidget message, IMessageHandlerContext context) => Task.CompletedTask;
    }
}
