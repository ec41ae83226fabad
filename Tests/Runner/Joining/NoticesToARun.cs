using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Stage;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Joining;

/// <summary>A run hears notices, some from a role that cannot join it.</summary>
[Parallelizable]
public sealed class NoticesToARun : JoiningTest
{
    private readonly ConcurrentQueue<string> notes = new();

    [Test]
    public async Task One_is_longer_than_a_notification()
    {
        await using var run = await StartAsync();
        await using var side = await JoiningSession.OpenAsync(Server.ConnectionString, "kit worker", new WorkerIsThere(), CancellationToken.None);
        var why = new string('ä', 20_000);

        await side.SayLastAsync(await RunHeardByAsync(side), new WorkerRefused(why));

        await Eventually.HoldsAsync(() => notes.Contains(why), "the run notes all of it");
    }

    /// <summary>Everyone who may connect to the database may notify.</summary>
    [Test]
    public async Task What_is_no_notice_is_ignored()
    {
        await using var run = await StartAsync();
        await using var side = await JoiningSession.OpenAsync(Server.ConnectionString, "kit worker", new WorkerIsThere(), CancellationToken.None);
        var itself = await RunHeardByAsync(side);
        foreach (var foreign in new[] { "0:x", "0:{}", "0:null", "", "7:half" })
            await Server.ExecuteAsync($"NOTIFY kit_joining, '{foreign}'");

        await side.SayLastAsync(itself, new WorkerRefused("heard"));

        await Eventually.HoldsAsync(() => notes.Contains("heard"), "the run still hears");
    }

    [Test]
    public async Task Another_role_is_not_admitted()
    {
        await Server.ExecuteAsync("CREATE ROLE guest LOGIN PASSWORD 'a-secret'");
        var guest = Server.As("guest", "a-secret").ConnectionString;
        await using var run = await StartAsync();

        var work = await RunnerProcess.RunAsync("worker", "--join", guest, "--wait", "2s");
        await using var side = await JoiningSession.OpenAsync(guest, "kit worker", new WorkerIsThere(), CancellationToken.None);
        var itself = await RunHeardByAsync(side);
        side.Say(itself, new WorkerJoins("guest", Provenance.OfHost()));
        await side.SayLastAsync(itself, new WorkerRefused("heard"));
        await Eventually.HoldsAsync(() => notes.Contains("heard"), "the run hears the role");

        Assert.That(work.ExitCode, Is.EqualTo(ExitCode.Failure), work.Output);
        Assert.That(work.Errors, Does.Contain("belongs to the role kit, and only that role can join it"));
        Assert.That(run.Facts, Is.Empty);
    }

    [Test]
    public async Task A_worker_that_waits_is_told_of_a_later_run_that_it_cannot_join()
    {
        await Server.ExecuteAsync("CREATE ROLE early LOGIN PASSWORD 'a-secret'");
        using var worker = RunnerProcess.Start(["worker", "--join", Server.As("early", "a-secret").ConnectionString, "--wait", "1m"]);
        await worker.PrintedAsync("Waiting for a run: no run waits for workers.");

        await using var run = await StartAsync();

        await worker.PrintedAsync("belongs to the role kit, and only that role can join it");
        await worker.SignalAsync("INT");
        await worker.EndAsync();
    }

    private async Task<JoinedWorkers> StartAsync()
    {
        var build = await JoiningBuild.OfThisAsync(CancellationToken.None);
        return await JoinedWorkers.OpenAsync(
            new RunOffer(build, Environment.MachineName, "run", [TransportName.PostgreSql]), new WorkerNeeds(1, TimeSpan.FromMinutes(1)),
            Server.ConnectionString, notes.Enqueue, CancellationToken.None);
    }

    private static async Task<int> RunHeardByAsync(JoiningSession side)
    {
        while (true)
        {
            if (await side.HearAsync(CancellationToken.None) is (var from, RunOffer))
                return from;
        }
    }
}
