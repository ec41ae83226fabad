using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

/// <summary>A message of a tester is refused by the broker, or there is no queue for it.</summary>
public sealed class MessageThatABrokerRefuses
{
    [Test]
    public async Task Is_told_from_one_without_a_queue()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        await using var host = await TestVirtualHost.CreateAsync();
        await host.SetPolicyAsync("^full$", """{"max-length": 1, "overflow": "reject-publish"}""");
        await using var queues = await BrokerQueues.OpenAsync(RabbitMqAddress.Parse(host.Address), CancellationToken.None);
        await queues.CreateAsync("full", CancellationToken.None);
        await SendAsync("full");

        Assert.That(() => SendAsync("full"), Throws.TypeOf<KitException>().With.Message.EqualTo("The broker refused a message for the queue 'full'."));
        Assert.That(() => SendAsync("none"), Throws.TypeOf<KitException>().With.Message.EqualTo("There is no queue 'none'."));

        Task SendAsync(string queue) =>
            queues.SendAsync(queue, Guid.CreateVersion7(), "{}", "application/json", new Dictionary<string, string>(), CancellationToken.None);
    }
}
