using Kit.Endpoints.Bare.RabbitMq;
using Kit.Handlers;
using Kit.Modes;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// What an application sets next to its mode. Retries and redeliveries within the mode's outbox would keep what a failed attempt has sent, and within its
/// transaction what it has stored.
/// </summary>
[Parallelizable]
public sealed class SettingsOfAnApplication
{
    public delegate void Configure(IRabbitMqReceiveEndpointConfigurator endpoint, IBusRegistrationContext context, Action mode);

    private static readonly TransactionMode[] Retrying = [TransactionMode.DtcOff, TransactionMode.ScopeOff];

    private static IEnumerable<TestCaseData> Within =>
        from mode in Retrying
        from one in new Dictionary<string, Configure>
        {
            ["after the mode"] = (endpoint, context, set) =>
            {
                set();
                endpoint.UseMessageRetry(retry => retry.Immediate(2));
                endpoint.ConfigureConsumer<Builder>(context);
            },
            ["by the consumer's definition"] = (endpoint, context, set) =>
            {
                set();
                endpoint.ConfigureConsumer<Defined>(context);
            },
            ["on the consumer"] = (endpoint, context, set) =>
            {
                set();
                endpoint.ConfigureConsumer<Builder>(context, consumer => consumer.UseMessageRetry(retry => retry.Immediate(2)));
            },
            ["a redelivery of the consumer"] = (endpoint, context, set) =>
            {
                set();
                endpoint.ConfigureConsumer<Builder>(context, consumer => consumer.UseDelayedRedelivery(retry => retry.Interval(2, 1_000)));
            },
            ["on the consumer's message"] = (endpoint, context, set) =>
            {
                set();
                endpoint.ConfigureConsumer<Builder>(
                    context, consumer => consumer.Message<BuildWidget>(message => message.UseMessageRetry(retry => retry.Immediate(2))));
            },
            ["on a handler"] = (endpoint, _, set) =>
            {
                set();
                endpoint.Handler<BuildWidget>(_ => Task.CompletedTask, handler => handler.UseMessageRetry(retry => retry.Immediate(2)));
            },
            ["on a saga"] = (endpoint, context, set) =>
            {
                set();
                endpoint.ConfigureSaga<Order>(context, saga => saga.UseMessageRetry(retry => retry.Immediate(2)));
            },
        }
        select new TestCaseData(mode, one.Value).SetArgDisplayNames(mode.Name, one.Key);

    private static IEnumerable<TestCaseData> Lossy =>
        from mode in Retrying.Append(TransactionMode.TransactionsOff)
        from one in new Dictionary<string, Action<IRabbitMqReceiveEndpointConfigurator>>
        {
            ["PurgeOnStartup"] = endpoint => endpoint.PurgeOnStartup = true,
            ["AutoDelete"] = endpoint => endpoint.AutoDelete = true,
            ["Durable"] = endpoint => endpoint.Durable = false,
        }
        select new TestCaseData(mode, one.Value, one.Key).SetArgDisplayNames(mode.Name, one.Key);

    [TestCaseSource(nameof(Within))]
    public async Task Within_an_attempt_they_are_refused(TransactionMode mode, Configure configure) =>
        Assert.That(await RefusalOfAsync(mode, configure), Does.Contain($"was set after {mode}").And.Contain("before UseTransactionMode"));

    [TestCaseSource(nameof(Retrying))]
    public async Task Around_an_attempt_they_are_the_applications(TransactionMode mode) => Assert.That(
        await RefusalOfAsync(mode, (endpoint, context, set) =>
        {
            endpoint.UseMessageRetry(retry => retry.Immediate(2));
            set();
            endpoint.ConfigureConsumer<Builder>(context);
            endpoint.ConfigureSaga<Order>(context);
        }),
        Is.Null);

    [Test]
    public async Task Transactions_off_has_none() => Assert.That(
        await RefusalOfAsync(TransactionMode.TransactionsOff, (endpoint, context, set) =>
        {
            endpoint.UseMessageRetry(retry => retry.Immediate(2));
            set();
            endpoint.ConfigureConsumer<Builder>(context);
        }),
        Does.Contain("transactions-off has one attempt"));

    [Test]
    public async Task Transactions_off_without_them_starts() => Assert.That(
        await RefusalOfAsync(TransactionMode.TransactionsOff, (endpoint, context, set) =>
        {
            set();
            endpoint.ConfigureConsumer<Builder>(context);
        }),
        Is.Null);

    [Test]
    public async Task A_filter_that_does_not_describe_itself_is_named() => Assert.That(
        await RefusalOfAsync(TransactionMode.DtcOff, (endpoint, context, set) =>
        {
            set();
            endpoint.UseFilter(new Undescribed());
            endpoint.ConfigureConsumer<Builder>(context);
        }),
        Does.Contain("its Probe threw no words for it").And.Contain(nameof(Undescribed)));

    [TestCaseSource(nameof(Lossy))]
    public async Task A_queue_that_loses_what_waits_is_refused(TransactionMode mode, Action<IRabbitMqReceiveEndpointConfigurator> set, string named) =>
        Assert.That(
            await RefusalOfAsync(mode, (endpoint, _, setMode) =>
            {
                setMode();
                set(endpoint);
            }),
            Does.Contain($"Queue 'work' loses messages by {named}"));

    [Test]
    public async Task A_second_mode_is_refused()
    {
        var refused = await Assert.CatchAsync(() => RefusalOfAsync(TransactionMode.TransactionsOff, (endpoint, context, set) =>
        {
            set();
            endpoint.UseTransactionMode(TransactionMode.DtcOff, context);
        }));

        Assert.That(refused!.GetBaseException().Message, Does.Contain("only once"));
    }

    /// <summary>Why an endpoint receives nothing, as its health says; <see langword="null"/>: it receives.</summary>
    private static async Task<string?> RefusalOfAsync(TransactionMode mode, Configure configure)
    {
        await using var broker = await TestVirtualHost.CreateAsync();
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.AddConsumer<Builder>();
            bus.AddConsumer<Defined, DefinedConsumers>();
            bus.AddSaga<Order>().InMemoryRepository();
            bus.UsingRabbitMq((context, rabbit) =>
            {
                rabbit.Host(RabbitMqAddress.Parse(broker.Address).Amqp);
                rabbit.ReceiveEndpoint("work", endpoint => configure(endpoint, context, () => endpoint.UseTransactionMode(mode, context)));
            });
        });
        using var built = host.Build();
        await built.StartAsync();
        var control = built.Services.GetRequiredService<IBusControl>();
        Exception? refusal = null;
        await Eventually.HoldsAsync(
            () =>
            {
                var health = control.CheckHealth().Endpoints.Single(endpoint => endpoint.Key.Split('?')[0].EndsWith("/work", StringComparison.Ordinal)).Value;
                refusal = health.Exception;
                return Task.FromResult(health.Status == BusHealthStatus.Healthy || refusal is not null);
            },
            "the endpoint receives, or says why not");
        await built.StopAsync();
        return refusal?.ToString();
    }

    internal sealed class Builder : IConsumer<BuildWidget>
    {
        public Task Consume(ConsumeContext<BuildWidget> context) => Task.CompletedTask;
    }

    internal sealed class Undescribed : IFilter<ConsumeContext>
    {
        public Task Send(ConsumeContext context, IPipe<ConsumeContext> next) => next.Send(context);

        public void Probe(ProbeContext context) => throw new NotSupportedException("no words for it");
    }

    internal sealed class Defined : IConsumer<BuildWidget>
    {
        public Task Consume(ConsumeContext<BuildWidget> context) => Task.CompletedTask;
    }

    internal sealed class DefinedConsumers : ConsumerDefinition<Defined>
    {
        protected override void ConfigureConsumer(
            IReceiveEndpointConfigurator endpointConfigurator, IConsumerConfigurator<Defined> consumerConfigurator, IRegistrationContext context) =>
            endpointConfigurator.UseMessageRetry(retry => retry.Immediate(2));
    }

    internal sealed record OrderPlaced(Guid CorrelationId) : CorrelatedBy<Guid>;

    internal sealed class Order : ISaga, InitiatedBy<OrderPlaced>
    {
        public Guid CorrelationId { get; set; }

        public Task Consume(ConsumeContext<OrderPlaced> context) => Task.CompletedTask;
    }
}
