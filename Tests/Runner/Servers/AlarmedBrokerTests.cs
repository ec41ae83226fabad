using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

[Parallelizable]
[Exhaustive]
public sealed class AlarmedBrokerTests
{
    private TemporaryFolder parent = null!;
    private PrivateRabbitMq broker = null!;
    private string settings = "";

    [OneTimeSetUp]
    public async Task StartBroker()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
        broker = await PrivateRabbitMq.StartAsync(parent.Path, CancellationToken.None);
        settings = await File.ReadAllTextAsync(SettingsFile);
    }

    [OneTimeTearDown]
    public async Task StopBroker()
    {
        if (broker is not null)
            await broker.DisposeAsync();
        parent?.Dispose();
    }

    private string SettingsFile => Path.Combine(broker.Folder, "rabbitmq.conf");

    [TestCase("disk_free_limit.absolute = 9000GB", "low on disk")]
    [TestCase("vm_memory_high_watermark.absolute = 1MB", "low on memory")]
    public async Task An_alarm_is_fatal_and_is_found_without_a_hang(string setting, string reason)
    {
        await File.WriteAllTextAsync(SettingsFile, $"{settings}{setting}\n");
        await broker.RestartAsync(CancellationToken.None);

        // The broker looks some seconds after the start.
        await Assert.ThatAsync(
            async () => (await RabbitMqFacts.ReadAsync(broker.Address, CancellationToken.None)).Alarm, Is.EqualTo(reason).After(300_000, 500));
        var watch = Stopwatch.StartNew();
        await Assert.ThatAsync(
            () => RabbitMqFacts.RequireAsync(broker.Address, CancellationToken.None),
            Throws.InstanceOf<KitException>()
                .With.Message.EqualTo($"The broker blocks all publishers: {reason}.").And.Property(nameof(KitException.Remedy)).Contains("disk_free_limit"));
        Assert.That(watch.Elapsed, Is.LessThan(TimeSpan.FromSeconds(20)), "nobody waits for a confirm that does not come");
    }
}
