using Kit.Runner.Servers;

namespace Kit.Tests;

/// <summary>One private broker for all tests, started when the first of them asks for it.</summary>
[SetUpFixture]
public sealed class RabbitMqServer
{
    private static readonly Lazy<Task<PrivateRabbitMq>> Broker = new(() => PrivateRabbitMq.StartAsync(CancellationToken.None));

    /// <summary>The broker; the test is ignored, with the reason, on a machine without RabbitMQ's programs.</summary>
    public static Task<PrivateRabbitMq> GetAsync()
    {
        IgnoreWithoutPrograms();
        return Broker.Value;
    }

    public static void IgnoreWithoutPrograms()
    {
        if (PrivateRabbitMq.Support.Because is { } reason)
            Assert.Ignore(reason);
        if (!RabbitMqBinaries.Folders().Any())
            Assert.Ignore($"This machine has no RabbitMQ broker. {InstallableServer.RabbitMq.InstallHint()}");
    }

    [OneTimeTearDown]
    public async Task Stop()
    {
        if (Broker.IsValueCreated)
            await (await Broker.Value).DisposeAsync();
    }
}
