using System.Net;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;
using RabbitMQ.Client;

namespace Kit.Tests.Servers;

/// <summary>A private broker while it runs.</summary>
public sealed class PrivateBrokerTests
{
    private PrivateRabbitMq broker = null!;

    [OneTimeSetUp]
    public async Task GetBroker() => broker = await RabbitMqServer.GetAsync();

    [Test]
    public async Task Takes_and_gives_messages()
    {
        await using var connection = await broker.Address.ConnectAsync("test", Eventually.Limit, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        var queue = (await channel.QueueDeclareAsync()).QueueName;

        await channel.BasicPublishAsync("", queue, new byte[] { 42 });

        BasicGetResult? message = null;
        await Assert.ThatAsync(async () => message = await channel.BasicGetAsync(queue, autoAck: true), Is.Not.Null.After(300_000, 20));
        Assert.That(message!.Body.ToArray(), Is.EqualTo(new byte[] { 42 }));
    }

    [Test]
    public async Task Has_no_guest()
    {
        var guest = RabbitMqAddress.Parse(
            new UriBuilder(broker.AmqpUri) { UserName = "guest", Password = "guest" }.Uri.AbsoluteUri,
            broker.ManagementUri.AbsoluteUri);

        await Assert.ThatAsync(
            () => RabbitMqFacts.ReadVersionAsync(guest, CancellationToken.None),
            Throws.InstanceOf<KitException>().With.Message.StartsWith("The broker refuses this user or password: guest at 127.0.0.1:"));
    }

    [Test]
    public async Task Leaves_the_password_in_no_file_and_no_command_line()
    {
        var files = Directory.EnumerateFiles(broker.Folder, "*", SearchOption.AllDirectories).Where(file => new FileInfo(file).LinkTarget is null);
        var commands = OperatingSystem.IsLinux() ? (await broker.FindPidsAsync()).Select(id => $"/proc/{id}/cmdline") : [];

        var read = files.Concat(commands).Select(file => (Name: file, Text: TextOf(file))).Where(file => file.Text.Length > 0).ToList();
        Assert.That(read, Is.Not.Empty);
        Assert.That(read.Where(file => file.Text.Contains(broker.Address.Password, StringComparison.Ordinal)).Select(file => file.Name), Is.Empty);

        static string TextOf(string file)
        {
            try
            {
                return File.ReadAllText(file);
            }
            catch (IOException)
            {
                // The broker runs: it replaces files, and its processes end.
                return "";
            }
        }
    }

    [Test]
    public async Task Listens_on_this_machine_alone()
    {
        if (!OperatingSystem.IsLinux() || ExternalProgram.OnSearchPath("ss") is not { } ss)
        {
            Assert.Ignore("The listeners of a process are asked of the program ss.");
            return;
        }

        var pids = await broker.FindPidsAsync();
        var listeners = (await new ExternalProgram(ss).RunAsync(["-Hltnp"], CancellationToken.None)).Output.Split('\n')
            .Where(line => pids.Any(id => line.Contains($"pid={id},", StringComparison.Ordinal)))
            .Select(line => IPEndPoint.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[3]))
            .ToList();

        // AMQP, management, distribution, and the port mapper's, which also takes the other loopback address.
        Assert.That(listeners, Has.Count.AtLeast(4).And.All.Matches<IPEndPoint>(listener => IPAddress.IsLoopback(listener!.Address)));
    }

    [Test]
    public async Task Does_not_run_as_root_and_is_of_another_session_than_ours()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("The owner of a process is read from /proc.");

        foreach (var id in await broker.FindPidsAsync())
        {
            var status = await File.ReadAllLinesAsync($"/proc/{id}/status");
            Assert.That(status.Single(line => line.StartsWith("Uid:", StringComparison.Ordinal)).Split('\t')[1], Is.Not.EqualTo("0"));
            Assert.That(SessionOf(await File.ReadAllTextAsync($"/proc/{id}/stat")), Is.EqualTo(id));
        }
    }

    [Test]
    public async Task Is_its_broker_and_its_port_mapper()
    {
        var pids = await broker.FindPidsAsync();

        Assert.That(pids, Has.Count.EqualTo(2).And.Member(await broker.FindBrokerPidAsync()));
        if (OperatingSystem.IsLinux())
            Assert.That(pids.Select(id => ProcessStat.Read(id)!.Name), Is.EqualTo(["beam.smp", "epmd"]));
    }

    [Test]
    public async Task Passes_its_own_preflight_as_the_version_that_runs()
    {
        var facts = await RabbitMqFacts.RequireAsync(broker.Address, CancellationToken.None);

        await TestContext.Out.WriteLineAsync($"RabbitMQ {broker.Version}: ready after {broker.StartTime.TotalSeconds:F1} s");
        Assert.Multiple(() =>
        {
            Assert.That(facts.Findings().Where(finding => finding.Problem is not null), Is.Empty);
            Assert.That(facts.Version, Is.EqualTo($"{broker.Version}"));
            Assert.That(facts.MayMakeVirtualHosts, Is.True);
        });
    }

    // proc_pid_stat(5): the sixth field; the second is a name in parentheses.
    private static int SessionOf(string stat) => int.Parse(stat[(stat.LastIndexOf(')') + 2)..].Split(' ')[3]);
}
