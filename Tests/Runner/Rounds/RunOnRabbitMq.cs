using System.Globalization;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;
using Npgsql;

namespace Kit.Tests.Rounds;

/// <summary>Runs on a named broker, of these tests' own.</summary>
[Parallelizable]
public sealed class RunOnRabbitMq : OnAServerOfItsOwn
{
    private const int SeedRows = 100;
    private const int Cells = 2;

    private PrivateRabbitMq broker = null!;

    [OneTimeSetUp]
    public async Task StartBroker()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        broker = await PrivateRabbitMq.StartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopBroker()
    {
        if (broker is not null)
            await broker.DisposeAsync();
    }

    [TestCase("classic", "dtc-off,full-dtc")]
    [TestCase("classic", "dtc-off,transactions-off,full-dtc", Category = ExhaustiveAttribute.Category)]
    [TestCase("quorum", "scope-off,full-dtc", Category = ExhaustiveAttribute.Category)]
    public async Task Every_message_is_accounted_for_and_nothing_is_left(string queueType, string modes)
    {
        var before = await VirtualHostsAsync();
        using var runner = Start("--messages", "150", "--warmup", "20", "--rounds", "1", "--queue-type", queueType, "--mode", modes);

        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var run = RunFolder.Open(Parent.Path).Load();
        Assert.That(run.Rounds, Has.Count.EqualTo(Cells * (modes.Split(',').Length - 1)));
        using (Assert.EnterMultipleScope())
        {
            foreach (var round in run.Rounds)
            {
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(150));
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(150));
                Assert.That(round.ServiceTime?.Handler?.Count, Is.EqualTo(150), $"{round.Cell}");
                Assert.That(round.ServiceTime?.Commit?.Count, Is.EqualTo(round.Cell.Framework == "bare" ? 150 : null), $"{round.Cell}");
                // The handler's insert: the queue is elsewhere.
                Assert.That(round.Costs.Commits.Value, Is.EqualTo(1).Within(0.5));
            }

            Assert.That(run.Document.Broker["queues"], Is.EqualTo($"{queueType}, durable"));
            Assert.That(run.Document.Broker["version"], Is.EqualTo(broker.Version.ToString()));
            Assert.That(run.Document.Packages, Contains.Key("RabbitMQ.Client").And.ContainKey("MassTransit.RabbitMqTransport"));
            Assert.That(run.Document.Probes.Select(probe => probe.Cell), Is.EquivalentTo(run.Document.Cells));
            Assert.That(run.Document.LeftOut.Select(left => left.Cell.Mode), Is.Not.Empty.And.All.EqualTo("full-dtc"));
            Assert.That(await VirtualHostsAsync(), Is.SubsetOf(before));
            Assert.That(Everything() + result.Output + result.Errors, Does.Not.Contain(broker.Address.Password));
        }
    }

    [Test]
    [Exhaustive]
    public async Task A_broker_that_dies_fails_its_rounds_and_the_run_ends()
    {
        using var runner = Start("--mode", "scope-off", "--messages", "20000", "--warmup", "0", "--rounds", "1", "--no-repeat");
        await runner.HandlerAsync();
        await Eventually.HoldsAsync(async () => await CountRowsAsync() > SeedRows, "rows are written");
        await broker.StopImmediatelyAsync();

        var result = await runner.EndAsync();

        await broker.RestartAsync(CancellationToken.None);
        var run = RunFolder.Open(Parent.Path).Load();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output + result.Errors);
            Assert.That(run.Rounds.Select(round => round.Outcome.IsValid()), Is.Not.Empty.And.None.True);
            Assert.That(run.Rounds.SelectMany(round => round.Outcome.Reasons), Is.Not.Empty);
            Assert.That(run.Cells.Select(cell => cell.Rate), Is.All.Null);
        }
    }

    [Test]
    [Exhaustive]
    public async Task A_broker_without_its_management_plugin_leaves_its_cells_out_and_the_others_run()
    {
        using var runner = RunnerProcess.Start(
            "run", "--framework", "bare", "--transport", "postgresql,rabbitmq", "--mode", "scope-off", "--messages", "5", "--warmup", "0",
            "--rounds", "1", "--seed-rows", "0", "--postgresql", Server.ConnectionString, "--rabbitmq", broker.AmqpUri.AbsoluteUri,
            "--rabbitmq-management", "http://127.0.0.1:1", "--out", Parent.Path);

        var result = await runner.EndAsync();

        var run = RunFolder.Open(Parent.Path).Load();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), "A cell that was asked for was not measured.");
            Assert.That(
                result.Output,
                Does.Contain("bare/rabbitmq/scope-off/ado is not measured: ").And.Contain("rabbitmq-plugins enable rabbitmq_management"));
            Assert.That(run.Document.LeftOut.Single().Cell.Transport, Is.EqualTo("rabbitmq"));
            Assert.That(run.Rounds.Single().Cell.Transport, Is.EqualTo("postgresql"));
            Assert.That(run.Rounds.Single().Outcome.IsValid(), Is.True);
            Assert.That(run.Document.Broker, Is.Empty, "The broker was not used.");
        }
    }

    [Test]
    public async Task A_broker_out_of_reach_ends_it_before_any_work()
    {
        var folder = Path.Combine(Parent.Path, "run");
        using var runner = RunnerProcess.Start(
            "run", "--transport", "rabbitmq", "--postgresql", Server.ConnectionString, "--out", folder,
            "--rabbitmq", "amqp://kit:secret@127.0.0.1:1/kit");

        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(result.Errors, Does.StartWith("error: The RabbitMQ broker is out of reach: kit at 127.0.0.1:").And.Not.Contain("secret"));
            Assert.That(folder, Does.Not.Exist);
        }
    }

    private RunnerProcess Start(params string[] more) => RunnerProcess.Start(
        [
            "run", "--framework", "bare,masstransit", "--transport", "rabbitmq", "--seed-rows", $"{SeedRows}", "--postgresql", Server.ConnectionString,
            "--rabbitmq", broker.AmqpUri.AbsoluteUri, "--rabbitmq-management", broker.ManagementUri.AbsoluteUri, "--out", Parent.Path, .. more,
        ]);

    private async Task<int> CountRowsAsync()
    {
        // A round's, not a probe's: between them there is none.
        var widgets = (await Server.DatabasesAsync())
            .SingleOrDefault(
                name => name.StartsWith("kit_", StringComparison.Ordinal) && name.EndsWith("_widgets", StringComparison.Ordinal));
        if (widgets is null)
            return 0;
        try
        {
            return int.Parse((await Server.In(widgets).ReadAsync("SELECT count(*) FROM widget"))[0], CultureInfo.InvariantCulture);
        }
        catch (PostgresException gone) when (
            gone.SqlState is PostgresErrorCodes.InvalidCatalogName or PostgresErrorCodes.UndefinedTable or PostgresErrorCodes.AdminShutdown)
        {
            return 0;
        }
    }

    private string Everything() => string.Concat(Directory.GetFiles(Parent.Path, "*", SearchOption.AllDirectories).Select(File.ReadAllText));

    private async Task<IEnumerable<string>> VirtualHostsAsync()
    {
        using var management = new ManagementApi(broker.Address);
        return (await management.ReadVirtualHostsAsync(CancellationToken.None)).Select(host => host.Name);
    }
}
