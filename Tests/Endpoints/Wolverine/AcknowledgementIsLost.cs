using System.Collections.Concurrent;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Kit.Tests.Samples;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Wolverine;
using Wolverine.RabbitMQ;

namespace Kit.Tests.Wolverine;

/// <summary>
/// Wolverine with messages in memory, when its connection to RabbitMQ is cut before an acknowledgement arrives. <c>transactions-off</c> handles a message at
/// most once, so Wolverine is refused there. When this fails, a version of Wolverine may have that mode.
/// </summary>
[Parallelizable]
public sealed class AcknowledgementIsLost
{
    private const string Queue = "orders";

    [Test]
    public async Task And_the_message_is_handled_from_memory_and_once_more()
    {
        await using var host = await TestVirtualHost.CreateAsync();
        var broker = RabbitMqAddress.Parse(host.Address).Amqp;
        var gate = new RequestGate();
        await using var proxy = new FaultProxy(
            broker.Host, broker.Port, new ProxiedNetwork { Filter = sides => gate.Open("broker", new AmqpWire(), sides) });
        var handled = new HandledOrders();
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddSingleton(handled);
        builder.Services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            wolverine.UseRuntimeCompilation();
            wolverine.Durability.Mode = DurabilityMode.Solo;
            wolverine.ApplicationAssembly = typeof(AcknowledgementIsLost).Assembly;
            wolverine.Discovery.DisableConventionalDiscovery().IncludeType(typeof(OrderIsHandled));
            wolverine.UseRabbitMq(new UriBuilder(broker) { Host = "127.0.0.1", Port = proxy.Port }.Uri).AutoProvision();
            wolverine.ListenToRabbitQueue(Queue).BufferedInMemory();
            wolverine.PublishAllMessages().ToRabbitQueue(Queue);
        });
        using var endpoint = builder.Build();
        await endpoint.StartAsync();
        gate.Arm(new MarkedRequest { Text = "basic.ack" }, PointWay.CutBefore);
        var order = new OrderToPlace(Guid.CreateVersion7());

        await endpoint.Services.GetRequiredService<IMessageBus>().SendAsync(order);
        await Eventually.HoldsAsync(() => gate.Fired.IsCompleted, "the connection is cut");
        await Eventually.HoldsAsync(() => handled.Ids.Count > 1, "the order is handled twice");
        await endpoint.StopAsync();

        Assert.That(handled.Ids, Is.EqualTo(new[] { order.OrderId, order.OrderId }));
    }
}

/// <summary>The orders that were handled. Wolverine generates code that names it and its handler, so both are public.</summary>
public sealed class HandledOrders
{
    public ConcurrentQueue<Guid> Ids { get; } = new();
}

public static class OrderIsHandled
{
    public static void Handle(OrderToPlace order, HandledOrders handled) => handled.Ids.Enqueue(order.OrderId);
}
