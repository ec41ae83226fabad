using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using RabbitMQ.Client;

namespace Kit.Tests.Servers;

/// <summary>Private brokers that start, crash, restart and end. One broker serves several outcomes: each start takes seconds of all processors.</summary>
[Parallelizable]
public sealed class PrivateBrokerLifeTests
{
    private TemporaryFolder parent = null!;

    [SetUp]
    public void MakeParent()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveParent() => parent?.Dispose();

    [Test]
    [Exhaustive]
    public async Task Confirmed_messages_survive_a_kill_and_disposing_leaves_no_process_and_no_folder()
    {
        await using var broker = await StartAsync();
        await PublishAsync(broker);
        // Not the first start: RabbitMQ 3.10.8 can forget a durable queue when it is killed in the first seconds of a new node.
        await broker.RestartAsync(CancellationToken.None);
        await PublishAsync(broker);
        await broker.StopImmediatelyAsync();
        await Assert.ThatAsync(
            () => RabbitMqFacts.ReadAsync(broker.Address, CancellationToken.None), Throws.InstanceOf<KitException>().With.Message.Contains("out of reach"));

        await broker.RestartAsync(CancellationToken.None);
        Assert.That(await CountAsync(broker), Is.EqualTo(2));

        var processes = (await broker.FindPidsAsync()).Select(id => ProcessIdentity.Of(id)!).ToList();
        var watch = Stopwatch.StartNew();
        await broker.DisposeAsync();

        await TestContext.Out.WriteLineAsync(
            $"Ready again after {broker.StartTime.TotalSeconds:F1} s, stopped and removed in {watch.Elapsed.TotalSeconds:F1} s");
        Assert.Multiple(() =>
        {
            Assert.That(processes.Select(process => process.HasEnded), Is.EqualTo([true, true]));
            Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
        });
    }

    [Test]
    [Exhaustive]
    public async Task A_leftover_of_a_killed_owner_is_stopped_and_removed_and_that_of_a_live_owner_is_left_alone()
    {
        await using var live = await StartAsync();
        var orphans = await LeaveBrokerBehindAsync();
        Assert.That(orphans.Select(process => process.HasEnded), Is.EqualTo([false, false]), "a broker outlives its killed owner");

        await using var next = await StartAsync();

        Assert.Multiple(() =>
        {
            Assert.That(orphans.Select(process => process.HasEnded), Is.EqualTo([true, true]));
            Assert.That(Directory.EnumerateDirectories(parent.Path).Count(), Is.EqualTo(2));
        });
        await Assert.ThatAsync(() => live.FindPidsAsync(), Has.Count.EqualTo(2));
        Assert.That((await RabbitMqFacts.ReadAsync(live.Address, CancellationToken.None)).Alarm, Is.Null);
    }

    [Test]
    public async Task A_process_that_got_the_id_of_a_broker_that_ended_is_not_touched()
    {
        var folder = BrokerFolder.Create(parent.Path);
        await File.WriteAllTextAsync(folder.BrokerPid, $"{Environment.ProcessId}");
        await File.WriteAllTextAsync(folder.PortMapperPid, "no number");

        // This process is alive to see it.
        await new BrokerControl(folder, user: null).RemoveAsync(StopMode.Immediate);

        Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
    }

    [Test]
    [Exhaustive]
    public async Task A_broker_that_does_not_start_says_why_with_the_end_of_its_log()
    {
        await using var broker = await StartAsync();
        await File.AppendAllTextAsync(Path.Combine(broker.Folder, "rabbitmq.conf"), "no_such_setting = 1\n");

        await Assert.ThatAsync(
            () => broker.RestartAsync(CancellationToken.None),
            Throws.InstanceOf<KitException>().With.Message.Contains("does not start").And.Message.Contains("no_such_setting"));
    }

    [Test]
    public async Task A_cancelled_start_leaves_nothing_behind()
    {
        await CancelledStart.OfAsync(TimeSpan.FromSeconds(1), token => PrivateRabbitMq.StartAsync(parent.Path, token));

        Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
    }

    [Test]
    public async Task A_parent_that_cannot_hold_folders_is_named()
    {
        var file = Path.Combine(parent.Path, "file");
        await File.WriteAllTextAsync(file, "");

        await Assert.ThatAsync(
            () => PrivateRabbitMq.StartAsync(file, CancellationToken.None),
            Throws.InstanceOf<KitException>().With.Message.Contains(file).And.Property(nameof(KitException.Remedy)).Contains(ServerPlace.Variable));
    }

    [Test]
    public async Task A_full_disk_is_said_and_nothing_is_left_on_it()
    {
        if (!OperatingSystem.IsLinux() || !Environment.IsPrivilegedProcess)
            Assert.Ignore("Only root can mount a small disk, and only on Linux.");
        var mount = await new ExternalProgram("mount").RunAsync(["-t", "tmpfs", "-o", "size=4k", "tmpfs", parent.Path], CancellationToken.None);
        if (!mount.Succeeded)
            Assert.Ignore($"A small disk cannot be mounted here: {mount.Output}");
        try
        {
            await Assert.ThatAsync(
                StartAsync,
                Throws.InstanceOf<KitException>().With.Message.Contains("No space left on device").And.Message.Contains(parent.Path));

            Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
        }
        finally
        {
            await new ExternalProgram("umount").RunAsync([parent.Path], CancellationToken.None);
        }
    }

    private Task<PrivateRabbitMq> StartAsync() => PrivateRabbitMq.StartAsync(parent.Path, CancellationToken.None);

    private async Task<IReadOnlyList<ProcessIdentity>> LeaveBrokerBehindAsync()
    {
        var start = new ProcessStartInfo("dotnet", ["exec", typeof(CrashingOwner).Assembly.Location, CrashingOwner.Command])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        using var owner = Process.Start(start)!;
        try
        {
            await owner.StandardInput.WriteLineAsync(parent.Path);
            await owner.StandardInput.FlushAsync();
            using var patience = new CancellationTokenSource(Eventually.Limit);
            var broker = int.Parse((await owner.StandardOutput.ReadLineAsync(patience.Token))!);
            var portMapper = int.Parse((await owner.StandardOutput.ReadLineAsync(patience.Token))!);
            return [ProcessIdentity.Of(broker)!, ProcessIdentity.Of(portMapper)!];
        }
        finally
        {
            owner.Kill();
            await owner.WaitForExitAsync();
        }
    }

    private static async Task PublishAsync(PrivateRabbitMq broker)
    {
        await using var connection = await broker.Address.ConnectAsync("test", Eventually.Limit, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true));
        await channel.QueueDeclareAsync("kept", durable: true, exclusive: false, autoDelete: false);
        await channel.BasicPublishAsync("", "kept", mandatory: true, new BasicProperties { Persistent = true }, new byte[] { 1 });
    }

    private static async Task<uint> CountAsync(PrivateRabbitMq broker)
    {
        await using var connection = await broker.Address.ConnectAsync("test", Eventually.Limit, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        return await channel.MessageCountAsync("kept");
    }
}
