using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Prove.Loads;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Tests.CommandLine;
using Kit.Tests.Results.Loads;

namespace Kit.Tests.Proofs;

/// <summary>The latency of a worker that polls a table, from outside. It is a shell script that feeds psql.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "The worker is a shell script.")]
public sealed class LoadOfAService : WorkersOnPsql
{
    /// <summary>Its transaction is open for so long: it handles four messages a second.</summary>
    private const string Slow = "INSERT INTO invoice SELECT id FROM done, pg_sleep(0.25)";

    /// <summary>There is a latency in it as soon as the database's log has told of a message in the last second.</summary>
    private const string Progress = @"polling: [0-9,]+ s, [0-9,]+ sent, [0-9,]+ handled, backlog [0-9,]+, p50 [0-9.,]+ ms\n";

    private TemporaryFolder folder = null!;

    private string File => folder.Below($"polling{ProofFile.Suffix}");

    private string Out => folder.Below("load");

    [SetUp]
    public void MakeFolder() => folder = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => folder.Dispose();

    [Test]
    public async Task At_a_rate_every_message_has_a_latency()
    {
        await System.IO.File.WriteAllTextAsync(File, DrainOfAService.TextOf(DrainOfAService.Right));

        var result = await RunnerProcess.ProveAsync("load", File, "--rate", "20/s", "--for", "4s", "--warm-up", "10", "--senders", "2", "--out", Out);

        var (document, load, verdict) = LoadedOf(result, Out);
        using (Assert.EnterMultipleScope())
        {
            Assert.That($"{load.Cell}", Is.EqualTo("polling"));
            Assert.That((load.Rate, load.Sent, load.Failed, load.TimedOut, load.Seconds), Is.EqualTo(((double?)20, 80, 0, (int?)0, 4d)));
            Assert.That(load.Accounts[DeliveryClass.Once], Is.EqualTo(80));
            Assert.That(load.Latency!.P50, Is.Positive.And.LessThan(4_000));
            Assert.That(load.Latency.Max, Is.GreaterThanOrEqualTo(load.SenderLag!.P50!.Value));
            Assert.That((load.UserLag, load.Clock), Is.EqualTo(((Latency?)null, EffectClock.LastEffect)));
            Assert.That(document.Service!.ProofFile, Is.EqualTo(await System.IO.File.ReadAllTextAsync(File)));
            Assert.That(result.Output, Does.Contain($"polling: 20.0/s: {verdict}; 80 sent, 0 % failed, "));
            var report = await System.IO.File.ReadAllTextAsync(new LoadFolder(Out).ReportPath);
            Assert.That(report, Does.Contain("ends with its last effect").And.Contain("- Disk: "));
            Assert.That((await System.IO.File.ReadAllLinesAsync(Path.Combine(Out, "load.csv")))[0], Does.StartWith("service,rate_per_second,"));
        }

        var reported = await RunnerProcess.RunAsync("report", Out);
        Assert.That(reported.ExitCode, Is.EqualTo(ExitCode.Success), reported.Errors);
    }

    /// <summary>The time that messages wait because those before them are slow is part of their latency.</summary>
    [Test]
    public async Task A_slow_service_does_not_slow_its_senders_down()
    {
        var load = await LoadAsync(Slow, new OpenLoad(8), TimeSpan.FromSeconds(4));

        Assert.That(load.Outcome.IsValid(), string.Join("; ", load.Outcome.Reasons));
        Assert.That((load.Sent, load.Failed), Is.EqualTo((32, 0)));
        // Eight a second come, and four are handled: the last one waits four seconds.
        Assert.That(load.Latency!.Max, Is.InRange(3_000, 30_000));
        Assert.That(load.Latency.P50, Is.InRange(1_000, load.Latency.Max));
        // A sender that waits for the service is as late as its message's effect. A machine can delay it, too.
        Assert.That(load.SenderLag!.P50, Is.LessThan(load.Latency.P50!.Value - 1_000));
        Assert.That(load.ReasonsAgainst(limitMilliseconds: null), Has.Member("a backlog was left"));
    }

    [Test]
    public async Task Users_wait_for_their_effects()
    {
        var load = await LoadAsync(
            Slow, new ClosedLoad(Users: 2, Think: TimeSpan.Zero, Ramp: TimeSpan.Zero, Timeout: TimeSpan.FromSeconds(30)), TimeSpan.FromSeconds(4));

        Assert.That(load.Outcome.IsValid(), string.Join("; ", load.Outcome.Reasons));
        // Each has one message at a time, which takes a quarter of a second at least.
        Assert.That(load.Sent, Is.InRange(2, 2 + (4 * 4)));
        Assert.That(load.Latency!.P50, Is.GreaterThan(250));
        Assert.That(load.UserLag!.P50, Is.InRange(0, 1_000), "it is told soon");
    }

    /// <summary>Between the receive and the commit is a whole round trip.</summary>
    [Test]
    public async Task A_distant_server_is_in_the_latency()
    {
        await System.IO.File.WriteAllTextAsync(
            File, DrainOfAService.TextOf(DrainOfAService.InThreeTrips, options: DrainOfAService.InThreeTripsOption));

        var result = await RunnerProcess.ProveAsync(
            "load", File, "--rate", "10/s", "--for", "2s", "--warm-up", "4", "--senders", "2", "--rtt", "10ms", "--out", Out);

        var (document, load, _) = LoadedOf(result, Out);
        Assert.That((document.Settings.RoundTrip, load.Sent, load.Failed), Is.EqualTo(("10ms", 20, 0)), result.Output);
        Assert.That(load.Latency!.P50, Is.GreaterThanOrEqualTo(10));
        Assert.That(result.Output, Does.Contain("Load with 10ms added to each round trip"));
        Assert.That(
            await System.IO.File.ReadAllTextAsync(new LoadFolder(Out).ReportPath),
            Does.Contain("- Distance: the kit's proxy adds 10ms to each round trip between the service and its servers"));
    }

    [Test]
    public async Task A_message_that_is_lost_has_failed_and_is_named()
    {
        await System.IO.File.WriteAllTextAsync(
            File, DrainOfAService.TextOf($"{DrainOfAService.Right} WHERE (SELECT count(*) FROM invoice) < 20"));

        var result = await RunnerProcess.ProveAsync(
            "load", File, "--rate", "20/s", "--for", "2s", "--timeout", "10s", "--warm-up", "8", "--out", Out);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output + result.Errors);
        var load = new LoadFolder(Out).LoadDocument().Results.Single();
        // Two messages and the warm-up were handled before.
        Assert.That((load.Sent, load.Failed, load.Lost), Is.EqualTo((40, 30, (int?)30)));
        Assert.That(load.Outcome.Reasons, Has.One.StartsWith("messages lost: 30 ("));
        Assert.That(result.Output, Does.Contain("75 % failed").And.Contain("messages lost: 30 ("));
    }

    [Test]
    public async Task A_message_whose_effect_comes_too_late_has_failed_and_is_named()
    {
        var load = await LoadAsync(Slow, new OpenLoad(8), TimeSpan.FromSeconds(3), timeout: TimeSpan.FromSeconds(1));

        Assert.That(load.TimedOut, Is.Positive);
        Assert.That(load.Failed, Is.GreaterThanOrEqualTo(load.TimedOut!.Value));
        Assert.That(load.Outcome.Reasons, Has.One.StartsWith($"messages with an effect later than 1.00 s: {load.TimedOut} ("));
    }

    /// <summary>A try is refused or not by the clock, so one of two is.</summary>
    [Test]
    public async Task Refused_sends_are_counted()
    {
        var load = await LoadAsync(
            DrainOfAService.Right, new OpenLoad(20), TimeSpan.FromSeconds(2),
            send: "INSERT INTO job SELECT '{{id}}'::uuid WHERE 1 / (extract(microseconds FROM clock_timestamp())::int % 2) = 1");

        Assert.That((load.Sent, load.Failed), Is.EqualTo((40, 0)), string.Join("; ", load.Outcome.Reasons));
        Assert.That((load.Refusals > 0, load.LastRefusal), Is.EqualTo((true, "division by zero")));
        using var report = new StringWriter();
        LoadReport.WriteMarkdown(InventedLoads.Searched with { Results = [load] }, picture: null, report);
        Assert.That($"{report}", Does.Contain($"{load.Refusals} tries to send were refused (the last: division by zero)."));
    }

    /// <summary>From some message on it refuses each, for longer than the timeout.</summary>
    [Test]
    public async Task A_message_that_is_not_accepted_has_failed_and_is_named()
    {
        var load = await LoadAsync(
            DrainOfAService.Right, new OpenLoad(8), TimeSpan.FromSeconds(2), timeout: TimeSpan.FromSeconds(2),
            send: "INSERT INTO job SELECT '{{id}}'::uuid WHERE 1 / (CASE WHEN (SELECT count(*) FROM invoice) < 10 THEN 1 ELSE 0 END) = 1");

        Assert.That((load.Sent, load.Lost), Is.EqualTo((16, (int?)0)), string.Join("; ", load.Outcome.Reasons));
        Assert.That(load.Failed, Is.Positive);
        Assert.That(load.Outcome.Reasons, Has.One.StartsWith("messages that were not accepted (division by zero): "));
    }

    [Test, Exhaustive]
    public async Task An_effect_of_which_no_commit_tells_is_an_error_of_the_file()
    {
        await System.IO.File.WriteAllTextAsync(
            File,
            DrainOfAService.TextOf(
                "SELECT FROM done", effect: "SELECT id FROM purchase WHERE NOT EXISTS (SELECT FROM job WHERE job.id = purchase.id)",
                send: "WITH bought AS (INSERT INTO purchase VALUES ('{{id}}')) INSERT INTO job VALUES ('{{id}}')"));

        var result = await RunnerProcess.ProveAsync("load", File, "--rate", "20/s", "--for", "2s", "--out", Out);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage), result.Output);
        Assert.That(result.Errors, Does.Contain("the service has committed no row with its id in a table that its statement names"));
        Assert.That(Out, Does.Not.Exist);
    }

    [Test]
    [Exhaustive]
    public async Task Ctrl_C_keeps_what_was_measured()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("It is stopped with a signal.");
        await System.IO.File.WriteAllTextAsync(File, DrainOfAService.TextOf(DrainOfAService.Right));
        using var prove = RunnerProcess.Start(
            [], RunnerProcess.ProvePath, ["load", File, "--rate", "20/s", "--for", "5min", "--warm-up", "10", "--out", Out]);
        await prove.PrintedLikeAsync(Progress);
        await prove.SignalAsync("INT");

        var result = await prove.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Output + result.Errors);
        var document = new LoadFolder(Out).LoadDocument();
        var load = document.Results.Single();
        Assert.That((document.IsStopped, load.Failed), Is.EqualTo((true, 0)), string.Join("; ", load.Outcome.Reasons));
        Assert.That(load.Sent, Is.InRange(20, 6_000));
        Assert.That(load.Seconds, Is.EqualTo(load.Sent / 20.0).Within(1));
        Assert.That(result.Output, Does.Match(Progress));
    }

    /// <summary>What a load that ended has left. On a busy machine the sender can be late, and so can the service: then its exit code says so.</summary>
    internal static (LoadDocument Document, LoadResult Load, string Verdict) LoadedOf(RunnerResult result, string folder)
    {
        Assert.That(folder, Does.Exist, result.Output + result.Errors);
        var document = new LoadFolder(folder).LoadDocument();
        var load = document.Results.Single();
        var reasons = load.ReasonsAgainst(limitMilliseconds: null);
        Assert.That(reasons, Is.SubsetOf(new[] { "the sender was late", "the sender was late (name more --senders)", "a backlog was left" }));
        Assert.That(result.ExitCode, Is.EqualTo(reasons.Count > 0 ? ExitCode.Failure : ExitCode.Success), result.Output + result.Errors);
        return (document, load, reasons.Count > 0 ? string.Join(", ", reasons) : "sustained");
    }

    private async Task<LoadResult> LoadAsync(
        string insert, LoadShape shape, TimeSpan length, TimeSpan? timeout = null, string send = DrainOfAService.ToJob)
    {
        var file = ProofFileReader.Parse("polling.proof.json", DrainOfAService.TextOf(insert, send: send)).WithTimedRows;
        var plan = new ServiceLoadPlan(
            file, Out, [shape], length, LimitMilliseconds: null, Shares: [], timeout ?? TimeSpan.FromSeconds(30), WarmUp: 2, Senders: 2, "load");
        return await new ServiceLoad(plan, await Shared.GetAsync(file), TimeSpan.FromSeconds(1), _ => { }).RunAsync(shape, CancellationToken.None);
    }
}
