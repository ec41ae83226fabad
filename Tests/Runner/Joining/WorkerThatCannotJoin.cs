using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds.Joining;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Joining;

/// <summary>A worker or a run that does not find the other, and says why.</summary>
[Parallelizable]
public sealed class WorkerThatCannotJoin : JoiningTest
{
    private static readonly Func<JoiningBuild, JoiningBuild>[] OtherBuilds =
    [
        own => own with { Fingerprint = "ffffffffffff", Version = "0.1.0+another", Commit = null },
        own => own with { Protocol = 999 },
    ];

    [TestCaseSource(nameof(OtherBuilds))]
    public async Task Another_build_is_refused_on_both_sides(object change)
    {
        var build = ((Func<JoiningBuild, JoiningBuild>)change)(await JoiningBuild.OfThisAsync(CancellationToken.None));
        var notes = new ConcurrentQueue<string>();
        await using var run = await JoinedWorkers.OpenAsync(
            new RunOffer(build, Environment.MachineName, "run", [TransportName.PostgreSql]), new WorkerNeeds(1, TimeSpan.FromMinutes(1)),
            Server.ConnectionString, notes.Enqueue, CancellationToken.None);
        using var worker = StartWorker();

        var work = await worker.EndAsync();

        Assert.That(work.ExitCode, Is.EqualTo(ExitCode.Failure), work.Output);
        Assert.That(work.Errors, Does.StartWith($"error: The run has another build: {build}; ").And.Contain("Build the same commit"));
        await Eventually.HoldsAsync(() => notes.Any(note => note.Contains("was refused: it has another build", StringComparison.Ordinal)), "the run says so");
    }

    [Test]
    [Exhaustive]
    public async Task A_run_with_a_broker_that_the_worker_does_not_know()
    {
        var broker = (await RabbitMqServer.GetAsync()).Address;
        using var runner = StartRun(
            "--transport", "rabbitmq", "--mode", "dtc-off", "--workers", "1", "--rounds", "1", "--messages", "1", "--rabbitmq", broker.Amqp.AbsoluteUri,
            "--rabbitmq-management", broker.Management.AbsoluteUri);
        await runner.PrintedAsync("Waiting for 1 worker.");

        await FailsAsync([], "error: The run has cells on RabbitMQ, and this worker knows no server for them.", "--rabbitmq");
        await FailsAsync(
            ["--rabbitmq", "amqp://kit@127.0.0.1:1"], "error: The RabbitMQ broker is out of reach: kit at 127.0.0.1:",
            "Name the server as this machine reaches it.");

        await runner.SignalAsync("INT");
        await runner.EndAsync();
    }

    [Test]
    public async Task No_run() => await FailsAsync(
        ["--wait", "2s"], "error: There is no run to join at kit at 127.0.0.1:", "Start it with 'run --workers'");

    [Test]
    public async Task No_worker()
    {
        using var runner = StartRun("--transport", "postgresql", "--mode", "shared", "--workers", "1", "--wait", "1s", "--rounds", "1", "--messages", "1");

        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output);
        Assert.That(result.Errors, Does.StartWith("error: The run needs 1 worker, and 1 worker did not join within 1 s."));
        await NothingIsLeftAsync();
    }

    [Test]
    public async Task A_server_that_is_out_of_reach()
    {
        var result = await RunnerProcess.RunAsync("worker", "--join", "Host=127.0.0.1;Port=1;Username=kit;Password=a-secret");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(
            result.Errors,
            Does.StartWith("error: The PostgreSQL server is out of reach: kit at 127.0.0.1:1/kit: ")
                .And.Contain("Name the server as this machine reaches it.").And.Not.Contain("a-secret"));
    }

    [Test]
    public async Task A_wrong_password()
    {
        var result = await RunnerProcess.RunAsync("worker", "--join", Server.As("kit", "a-secret").ConnectionString);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(result.Errors, Does.StartWith("error: Wrong password: kit at 127.0.0.1:").And.Not.Contain("a-secret"));
    }

    private async Task FailsAsync(IEnumerable<string> options, string error, string remedy)
    {
        using var worker = StartWorker(options);

        var work = await worker.EndAsync();

        Assert.That(work.ExitCode, Is.EqualTo(ExitCode.Failure), work.Output);
        Assert.That(work.Errors, Does.StartWith(error).And.Contain(remedy).And.Not.Contain(Server.Password));
    }
}
