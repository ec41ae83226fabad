using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Joining;

namespace Kit.Tests.Exhaustive.Joining;

/// <summary>A worker that is gone in the middle of a round.</summary>
[Parallelizable]
public sealed class WorkerThatIsLost : JoiningTest
{
    [SetUp]
    public void NeedsLinux()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Processes are looked up in /proc.");
    }

    [Test]
    public async Task Killed_it_makes_its_round_invalid_and_another_takes_its_place()
    {
        using var runner = StartRun("--transport", "postgresql", "--mode", "shared", "--workers", "1", "--rounds", "2", "--messages", "2000");
        using var worker = StartWorker();
        var handler = await worker.HandlerAsync();
        await worker.SignalAsync("KILL");
        await runner.PrintedAsync("1 of 2: ");
        using var other = StartWorker();

        var (result, work) = (await runner.EndAsync(), await other.EndAsync());

        var rounds = Measured().Rounds;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output + result.Errors);
            Assert.That(result.Output, Does.Contain("INVALID (worker 1 has vanished: its connection to the database has ended)"));
            Assert.That(rounds.Select(round => round.Outcome.ToString()), Is.EqualTo(["INVALID", "valid"]));
            Assert.That(work.ExitCode, Is.EqualTo(ExitCode.Success), work.Output + work.Errors);
            Assert.That(Measured().Document.Workers, Has.Count.EqualTo(2));
            await NothingIsLeftAsync();
        }

        await Eventually.HoldsAsync(() => handler.HasEnded, "the handler process ends with its worker");
    }

    [Test]
    public async Task Stopped_it_says_so_and_its_run_ends_until_another_resumes_it()
    {
        using var runner = StartRun(
            "--transport", "postgresql", "--mode", "shared", "--workers", "1", "--wait", "10s", "--rounds", "2", "--messages", "2000");
        using var worker = StartWorker();
        await worker.HandlerAsync();
        await worker.SignalAsync("INT");

        var (work, result) = (await worker.EndAsync(), await runner.EndAsync());

        using (Assert.EnterMultipleScope())
        {
            Assert.That(work.ExitCode, Is.EqualTo(ExitCode.Interrupted), work.Errors);
            Assert.That(work.Output, Does.Contain("the round was ended.").And.Contain("Stopped. Messages handled here"));
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output + result.Errors);
            Assert.That(result.Errors, Does.StartWith("error: The run needs 1 worker, and 1 worker did not join within 10 s."));
            Assert.That(Measured().Rounds.Single().Outcome.Reasons, Is.EqualTo(["worker 1 was stopped with Ctrl+C"]));
            await NothingIsLeftAsync();
        }

        using var other = StartWorker();
        using var resumed = RunnerProcess.Start("run", "--resume", Folder, "--retry-failed", "--postgresql", Server.ConnectionString);

        var (again, othersWork) = (await resumed.EndAsync(), await other.EndAsync());

        using (Assert.EnterMultipleScope())
        {
            Assert.That(again.ExitCode, Is.EqualTo(ExitCode.Success), again.Output + again.Errors);
            Assert.That(othersWork.ExitCode, Is.EqualTo(ExitCode.Success), othersWork.Output + othersWork.Errors);
            Assert.That(Measured().Rounds.Where(round => round.Outcome.IsValid()).Select(round => round.Round), Is.EquivalentTo([1, 2]));
            Assert.That(Measured().Document.Workers, Has.Count.EqualTo(2));
            await NothingIsLeftAsync();
        }
    }

    [Test]
    public async Task A_run_that_is_stopped_ends_its_workers()
    {
        using var runner = StartRun("--transport", "postgresql", "--mode", "shared", "--workers", "1", "--rounds", "1", "--messages", "2000");
        using var worker = StartWorker();
        var handler = await worker.HandlerAsync();
        await runner.SignalAsync("INT");

        var (result, work) = (await runner.EndAsync(), await worker.EndAsync());

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Output + result.Errors);
            Assert.That(work.ExitCode, Is.EqualTo(ExitCode.Success), work.Errors);
            Assert.That(work.Output, Does.Contain("The run has ended: stopped."));
            Assert.That(handler.HasEnded);
            await NothingIsLeftAsync();
        }
    }
}
