using System.Globalization;
using Kit.Runner;
using Kit.Runner.Results.Loads;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Loading;

/// <summary>Loads on servers of the kit's own, by the command line.</summary>
public sealed class LoadOfACell
{
    private TemporaryFolder parent = null!;

    private string Folder => Path.Combine(parent.Path, "load");

    [SetUp]
    public void Prepare()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => parent?.Dispose();

    [Test]
    public async Task Every_message_has_a_latency_and_is_accounted_for()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,transactions-off", "--scenario", "insert-and-send",
            "--rate", "100/s", "--for", "4s", "--seed-rows", "100", "--warmup", "50", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var document = new LoadFolder(Folder).Load();
        Assert.That(document.Results.Select(load => load.Cell.Mode), Is.EqualTo(["full-dtc", "transactions-off"]));
        using (Assert.EnterMultipleScope())
        {
            foreach (var load in document.Results)
            {
                Assert.That(load.Outcome.IsValid(), $"{load.Cell}: {string.Join(", ", load.Outcome.Reasons)}");
                Assert.That(load, Has.Property(nameof(LoadResult.Sent)).EqualTo(400).And.Property(nameof(LoadResult.Failed)).EqualTo(0));
                // A commit takes a round trip, and the clock of the commit is the same machine's.
                Assert.That(load.Latency!.P50, Is.Positive);
                Assert.That(load.Latency.Max, Is.GreaterThanOrEqualTo(load.SenderLag!.P50));
            }

            Assert.That(await File.ReadAllLinesAsync(Path.Combine(Folder, "load.csv")), Has.Length.EqualTo(3));
        }

        var reported = await RunnerProcess.RunAsync("report", Folder);
        Assert.That(reported.Output, Does.Contain("bare/postgresql/full-dtc/ado/insert-and-send").And.Contain("Tables: "));
    }

    [Test]
    public async Task A_rate_that_one_handler_cannot_do_grows_the_backlog()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "outbox", "--rate", "10000/s", "--for", "1s",
            "--concurrency", "1", "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var load = new LoadFolder(Folder).Load().Results.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(load.Sent, Is.EqualTo(10_000));
            Assert.That(load.IsBacklogGrowing, $"{load.BehindInTheMiddle}, {load.BehindAtTheEnd}");
            Assert.That(load.Failed, Is.Zero);
        }
    }

    [Test]
    public async Task On_a_broker_too()
    {
        RabbitMqServer.IgnoreWithoutPrograms();

        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare,masstransit", "--transport", "rabbitmq", "--mode", "dtc-off", "--rate", "50/s", "--for", "3s",
            "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(new LoadFolder(Folder).Load().Results.Select(load => load.Sent), Is.EqualTo([150, 150]));
    }

    [Test]
    public async Task Ctrl_C_keeps_what_was_measured()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Processes are looked up in /proc.");
        using var runner = RunnerProcess.Start(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "shared,outbox", "--rate", "50/s", "--for", "5min",
            "--seed-rows", "0", "--warmup", "10", "--out", Folder);
        await runner.PrintedAsync(" sent, ");
        await runner.SignalAsync("INT");

        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Output + result.Errors);
        var document = new LoadFolder(Folder).Load();
        var load = document.Results.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(document.IsStopped);
            Assert.That(load.Outcome.IsValid(), string.Join(", ", load.Outcome.Reasons));
            Assert.That(load.Sent, Is.InRange(100, 5_000));
            Assert.That(load.Seconds, Is.EqualTo(load.Sent / 50.0).Within(1), load.Seconds.ToString(CultureInfo.InvariantCulture));
            Assert.That(result.Output, Does.Contain("The load was stopped."));
        }
    }

    [Test]
    public async Task A_folder_that_exists_is_refused_and_left_alone()
    {
        var result = await RunnerProcess.RunAsync("load", "--framework", "bare", "--rate", "5", "--out", parent.Path);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
            Assert.That(result.Errors, Does.Contain($"{parent.Path} exists."));
            Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
        }
    }
}
