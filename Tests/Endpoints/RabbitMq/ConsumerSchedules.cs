using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.MassTransit;
using Kit.Handlers;
using Kit.Modes;
using MassTransit;
using MassTransit.Scheduling;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// A consumer of MassTransit that schedules a message, and fails. MassTransit's outbox does not hold it back. When this fails, look at the limits of
/// MassTransit in docs/guides/transports.md.
/// </summary>
[Parallelizable]
public sealed class ConsumerSchedules
{
    private const string Scheduler = "scheduler";

    private static IEnumerable<TransactionMode> Modes =>
        RabbitMqBench.Acknowledging.Where(mode => MassTransitSupport.Of(mode).IsSupported);

    [TestCaseSource(nameof(Modes))]
    public async Task And_each_attempt_has_scheduled_it_at_once(TransactionMode mode)
    {
        await using var broker = await TestVirtualHost.CreateAsync();
        var scheduled = 0;
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddOptions<MassTransitHostOptions>().Configure(options => options.WaitUntilStarted = true);
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.UsingRabbitMq((context, rabbit) =>
            {
                rabbit.Host(RabbitMqAddress.Parse(broker.Address).Amqp);
                rabbit.UseMessageScheduler(new Uri($"queue:{Scheduler}"));
                rabbit.ReceiveEndpoint(Scheduler, endpoint => endpoint.Handler<ScheduleMessage>(_ =>
                {
                    Interlocked.Increment(ref scheduled);
                    return Task.CompletedTask;
                }));
                rabbit.ReceiveEndpoint("work", endpoint =>
                {
                    endpoint.UseTransactionMode(mode, context);
                    endpoint.Handler<BuildWidget>(async message =>
                    {
                        await message.ScheduleSend(new Uri("queue:later"), TimeSpan.FromMinutes(1), new WidgetBuilt(message.Message.MessageId));
                        throw new InvalidOperationException("after it has scheduled");
                    });
                });
            });
        });
        using var built = host.Build();
        await built.StartAsync();

        await (await built.Services.GetRequiredService<IBus>().GetSendEndpoint(new Uri("queue:work"))).Send(new BuildWidget(Guid.CreateVersion7()));

        await Eventually.HoldsAsync(() => Volatile.Read(ref scheduled) == mode.Attempts, "each attempt has scheduled");
        await built.StopAsync();
    }
}
