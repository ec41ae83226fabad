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

    [Test]
    public async Task An_activity_in_dtc_off_is_refused()
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.AddExecuteActivity<Charge, Payment>();
            bus.UsingRabbitMq((context, rabbit) => rabbit.ReceiveEndpoint("work", endpoint =>
            {
                endpoint.UseTransactionMode(TransactionMode.DtcOff, context);
                endpoint.ConfigureExecuteActivity(context, typeof(Charge));
            }));
        });
        using var built = host.Build();

        var refused = await Assert.CatchAsync(() => built.StartAsync());

        Assert.That(refused!.GetBaseException().Message, Does.Contain("cannot run activity Charge in dtc-off").And.Contain("or use scope-off"));
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
}
