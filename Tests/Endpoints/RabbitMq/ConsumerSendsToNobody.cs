using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.MassTransit;
using Kit.Handlers;
using Kit.Modes;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using RabbitMQ.Client.Exceptions;

namespace Kit.Tests.RabbitMq;

/// <summary>A consumer of MassTransit whose message no queue gets. MassTransit itself does not notice, and an activity it does not roll back.</summary>
[Parallelizable]
public sealed class ConsumerSendsToNobody
{
    private static IEnumerable<TransactionMode> Modes => RabbitMqBench.Acknowledging.Where(mode => MassTransitSupport.Of(mode).IsSupported);

    [TestCaseSource(nameof(Modes))]
    public async Task A_send_to_no_queue_fails_the_message(TransactionMode mode) => Assert.That(
        await ConsumeAsync(mode, async context => await (await context.GetSendEndpoint(new Uri("exchange:nobody"))).Send(context.Message)), Is.EqualTo(1));

    [TestCaseSource(nameof(Modes))]
    public async Task An_event_without_subscribers_and_a_reply_to_a_requester_that_is_gone_do_not(TransactionMode mode) => Assert.That(
        await ConsumeAsync(
            mode,
            async context =>
            {
                await context.Publish(new WidgetReady(context.Message.MessageId));
                await context.RespondAsync(new WidgetBuilt(context.Message.MessageId));
            },
            isRequest: true),
        Is.Zero);

    /// <summary>Its sender waits for an answer, so the request has the id of one, as a reply has.</summary>
    [TestCaseSource(nameof(Modes))]
    public async Task A_request_that_is_passed_on_to_no_queue_fails_the_message(TransactionMode mode) => Assert.That(
        await ConsumeAsync(mode, context => context.Forward(new Uri("exchange:nobody")), isRequest: true), Is.EqualTo(1));

    [Test]
    public async Task An_activity_in_dtc_off_is_refused() => Assert.That(
        await RefusalOfAsync(bus => bus.AddExecuteActivity<Charge, Payment>(), (endpoint, context) =>
        {
            endpoint.UseTransactionMode(TransactionMode.DtcOff, context);
            endpoint.ConfigureExecuteActivity(context, typeof(Charge));
        }),
        Does.Contain("cannot run activity Charge in dtc-off").And.Contain("or use scope-off"));

    [Test]
    public async Task A_job_in_dtc_off_is_refused() => Assert.That(
        await RefusalOfAsync(
            bus =>
            {
                bus.AddConsumer<Collect>();
                bus.SetInMemorySagaRepositoryProvider();
                bus.AddJobSagaStateMachines();
            },
            (endpoint, context) =>
            {
                endpoint.UseTransactionMode(TransactionMode.DtcOff, context);
                endpoint.ConfigureConsumer<Collect>(context);
            }),
        Does.Contain("cannot run job consumer Collect in dtc-off").And.Contain("or use scope-off"));

    [Test]
    public async Task A_host_without_publisher_confirms_receives_nothing_and_says_why()
    {
        await using var broker = await TestVirtualHost.CreateAsync();
        var address = RabbitMqAddress.Parse(broker.Address);
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.UsingRabbitMq((context, rabbit) =>
            {
                rabbit.ReceiveEndpoint("work", endpoint => endpoint.UseTransactionMode(TransactionMode.ScopeOff, context));
                rabbit.Host(address.Amqp, configured => configured.PublisherConfirmation = false);
            });
        });
        using var built = host.Build();
        await built.StartAsync();
        var control = built.Services.GetRequiredService<IBusControl>();

        await Eventually.HoldsAsync(
            () => Task.FromResult(control.CheckHealth().Endpoints.Values.Any(endpoint =>
                endpoint.Exception?.GetBaseException().Message.Contains("PublisherConfirmation", StringComparison.Ordinal) is true)),
            "the endpoint says why it does not start");
        await built.StopAsync();
    }

    [TestCaseSource(nameof(Modes))]
    public async Task An_endpoint_of_another_transport_is_refused(TransactionMode mode)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.UsingInMemory((context, memory) => memory.ReceiveEndpoint("work", endpoint => endpoint.UseTransactionMode(mode, context)));
        });
        using var built = host.Build();

        var refused = await Assert.CatchAsync(() => built.StartAsync());

        Assert.That(refused!.GetBaseException().Message, Does.Contain($"{mode} needs a RabbitMQ endpoint of MassTransit 8"));
    }

    /// <summary>Why an endpoint does not start.</summary>
    private static async Task<string> RefusalOfAsync(
        Action<IBusRegistrationConfigurator> register, Action<IRabbitMqReceiveEndpointConfigurator, IBusRegistrationContext> configure)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            register(bus);
            bus.UsingRabbitMq((context, rabbit) => rabbit.ReceiveEndpoint("work", endpoint => configure(endpoint, context)));
        });
        using var built = host.Build();
        return (await Assert.CatchAsync(() => built.StartAsync()))!.GetBaseException().Message;
    }

    /// <summary>One message, until it is out of the queue.</summary>
    /// <returns>How many are in the error queue.</returns>
    private static async Task<uint> ConsumeAsync(TransactionMode mode, MessageHandler<BuildWidget> consume, bool isRequest = false)
    {
        await using var broker = await TestVirtualHost.CreateAsync();
        var address = RabbitMqAddress.Parse(broker.Address);
        await using var queue = new RabbitMqQueue(address, "work", hasRetries: false);
        await queue.CreateAsync(CancellationToken.None);
        await queue.BindExchangeAsync(CancellationToken.None);
        var message = new BuildWidget(Guid.CreateVersion7());
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddOptions<MassTransitHostOptions>().Configure(options => options.WaitUntilStarted = true);
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.UsingRabbitMq((context, rabbit) =>
            {
                rabbit.Host(address.Amqp);
                rabbit.UseRawJsonSerializer(isDefault: true);
                rabbit.ReceiveEndpoint("work", endpoint =>
                {
                    endpoint.ConfigureConsumeTopology = false;
                    endpoint.UseTransactionMode(mode, context);
                    endpoint.Handler(consume);
                });
            });
        });
        using var built = host.Build();
        await built.StartAsync();
        var work = await built.Services.GetRequiredService<IBus>().GetSendEndpoint(new Uri("queue:work"));
        await work.Send(message, send =>
        {
            if (!isRequest)
                return;
            send.RequestId = Guid.CreateVersion7();
            send.ResponseAddress = new Uri("exchange:gone?temporary=true");
        });
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await built.StopAsync();

        await using var connection = await address.ConnectAsync("test", timeout: null, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        try
        {
            return (await channel.QueueDeclarePassiveAsync("work_error")).MessageCount;
        }
        catch (OperationInterruptedException none) when (none.ShutdownReason?.ReplyCode == 404)
        {
            return 0;
        }
    }

    internal sealed record Payment;

    internal sealed class Charge : IExecuteActivity<Payment>
    {
        public Task<ExecutionResult> Execute(ExecuteContext<Payment> context) => Task.FromResult(context.Completed());
    }

    internal sealed class Collect : IJobConsumer<Payment>
    {
        public Task Run(JobContext<Payment> context) => Task.CompletedTask;
    }
}
