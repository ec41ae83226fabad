using System.Globalization;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;
using Kit.Tests.Servers;

namespace Kit.Tests.Loading;

/// <summary>Loads on servers of the kit's own, by the command line.</summary>
[Parallelizable]
public sealed class LoadOfACell : LoadTest
{
    [Test]
    public async Task Every_message_has_a_latency_and_is_accounted_for()
    {
        // A folder in memory, where a flush costs nothing: the servers of a load stay out of it.
        using var runner = RunnerProcess.Start(
            Directory.Exists(PlaceOfTheServers.Memory) ? new Dictionary<string, string> { [ServerPlace.Variable] = PlaceOfTheServers.Memory } : [],
            RunnerProcess.ProgramPath,
            [
                "load", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,transactions-off", "--scenario", "insert-and-send",
                "--rate", "100/s", "--for", "4s", "--seed-rows", "100", "--warmup", "50", "--senders", "3", "--concurrency", "3", "--out", Folder,
            ]);
        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var document = new LoadFolder(Folder).LoadDocument();
        Assert.That(document.Results.Select(load => load.Cell.Mode), Is.EqualTo(["full-dtc", "transactions-off"]));
        Assert.That(
            document.Settings,
            Is.EqualTo(new LoadSettings(Seconds: 4, Concurrency: 3, SeedRows: 100, WarmUp: 50, Senders: 3, LimitMilliseconds: null)));
        using (Assert.EnterMultipleScope())
        {
            foreach (var load in document.Results)
            {
                Assert.That(load.Outcome.IsValid(), $"{load.Cell}: {string.Join(", ", load.Outcome.Reasons)}");
                Assert.That(load, Has.Property(nameof(LoadResult.Sent)).EqualTo(400).And.Property(nameof(LoadResult.Failed)).EqualTo(0));
                // A commit takes a round trip, and the clock of the commit is the same machine's.
                Assert.That(load.Latency!.P50, Is.Positive);
                Assert.That(load.Latency.Max, Is.GreaterThanOrEqualTo(load.SenderLag!.P50!.Value));
                Assert.That(load.UserLag, Is.Null, "nobody waits");
            }

            Assert.That(await File.ReadAllLinesAsync(Path.Combine(Folder, "load.csv")), Has.Length.EqualTo(3));
            Assert.That(document.Disk?.IsInMemory, Is.False);
            Assert.That(document.Disk?.Folder, Is.Not.EqualTo(PlaceOfTheServers.Memory));
            Assert.That(await File.ReadAllTextAsync(new LoadFolder(Folder).ReportPath), Does.Contain($"- Disk: {document.Disk?.Text}"));
        }

        var reported = await RunnerProcess.RunAsync("report", Folder);
        Assert.That(reported.Output, Does.Contain("bare/postgresql/full-dtc/ado/insert-and-send").And.Contain("Tables: "));
    }

    [Test]
    [Exhaustive]
    public async Task Users_have_at_most_one_message_each_and_wait_for_its_row()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off,outbox", "--users", "5", "--think", "20ms", "--ramp", "1s",
            "--for", "3s", "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        using (Assert.EnterMultipleScope())
        {
            foreach (var load in new LoadFolder(Folder).LoadDocument().Results)
            {
                Assert.That((load.Users, load.Rate, load.Failed, load.Seconds), Is.EqualTo(((int?)5, (double?)null, 0, 3d)));
                Assert.That(load.Backlog!.LastQuarter, Is.InRange(0, 5));
                // A message takes its pause at least.
                Assert.That(load.Sent, Is.InRange(5, 5 * 3_000 / 20));
                Assert.That(load.Reached, Is.Positive.And.LessThan(5 * 1_000 / 20));
                Assert.That(load.UserLag!.P50, Is.InRange(0, 500), "after the effect, and long before the user's patience ends");
            }
        }
    }

    [Test]
    [Exhaustive]
    public async Task A_held_snapshot_makes_three_parts_of_a_load()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "shared", "--rate", "100/s", "--for", "6s", "--held-snapshot", "2s..5s",
            "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var load = new LoadFolder(Folder).LoadDocument().Results.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(load.Parts!.Select(part => (part.From, part.To)), Is.EqualTo([(0, 2), (2, 5), (5, 6)]));
            Assert.That(load.Parts![1].DeadRows, Is.GreaterThan(load.Parts[0].DeadRows!.Value), "they are there until the snapshot is gone");
            Assert.That(load.Soak!.Select(figure => figure.Title), Does.Contain("Working set MB").And.Contain("Connections").And.Contain("Dead rows"));
            Assert.That(load.Soak!.Single(figure => figure.Title == "Working set MB").Last, Is.InRange(10, 2_000));
            Assert.That(load.Soak!.Select(figure => figure.Trend), Is.All.Null, "too short");
            Assert.That(await File.ReadAllLinesAsync(Path.Combine(Folder, LoadFolder.SamplesFile)), Has.Length.InRange(3, 8));
            Assert.That(await File.ReadAllTextAsync(new LoadFolder(Folder).ReportPath), Does.Contain("while it was held").And.Contain("through the load"));
        }
    }

    [Test]
    [Exhaustive]
    public async Task Several_processes_share_a_load_and_are_followed_together()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "shared", "--processes", "1,2", "--rate", "100/s", "--for", "4s",
            "--held-snapshot", "1s..2s", "--seed-rows", "0", "--warmup", "50", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var loads = new LoadFolder(Folder).LoadDocument().Results;
        Assert.That(loads.Select(load => $"{load.Cell}"), Is.EqualTo(["bare/postgresql/shared/ado", "bare/postgresql/shared/ado/2-processes"]));
        Assert.That(loads.Select(load => (load.Sent, load.Failed)), Is.All.EqualTo((400, 0)));
        var threads = loads.Select(load => load.Soak!.Single(figure => figure.Title == "Threads").First).ToList();
        Assert.That(threads[1], Is.GreaterThan(1.5 * threads[0]), "of both processes together");
    }

    [Test]
    [Exhaustive]
    public async Task On_a_broker_too()
    {
        RabbitMqServer.IgnoreWithoutPrograms();

        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare,masstransit", "--transport", "rabbitmq", "--mode", "dtc-off", "--rate", "50/s", "--for", "3s",
            "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(new LoadFolder(Folder).LoadDocument().Results.Select(load => load.Sent), Is.EqualTo([150, 150]));
    }

    [TestCase("rebus")]
    [TestCase("wolverine")]
    [Exhaustive]
    public async Task Users_of_another_framework_wait_for_what_its_handler_sends(string framework)
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", framework, "--transport", "postgresql", "--mode", "scope-off", "--scenario", "pass", "--users", "3", "--think", "20ms",
            "--for", "3s", "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var load = new LoadFolder(Folder).LoadDocument().Results.Single();
        Assert.That((load.Failed, load.UserLag is null), Is.EqualTo((0, false)));
    }

    [Test]
    public async Task Ctrl_C_keeps_what_was_measured()
    {
        var result = await StoppedAsync("--mode", "shared,outbox", "--rate", "50/s", "--warmup", "10");

        var document = new LoadFolder(Folder).LoadDocument();
        var load = document.Results.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(document.IsStopped);
            Assert.That(load.Outcome.IsValid(), string.Join(", ", load.Outcome.Reasons));
            Assert.That(load.Sent, Is.InRange(100, 5_000));
            Assert.That(load.Seconds, Is.EqualTo(load.Sent / 50.0).Within(1), load.Seconds.ToString(CultureInfo.InvariantCulture));
            Assert.That(result.Output, Does.Contain("INCOMPLETE: the load is running, was stopped"));
            Assert.That(result.Output, Does.Match(Progress), "while it ran");
        }
    }

    [Test]
    [Exhaustive]
    public async Task A_terminal_that_was_closed_ends_it_as_Ctrl_C_does()
    {
        await StoppedByAsync("HUP", "--mode", "shared", "--rate", "50/s", "--warmup", "10");

        var document = new LoadFolder(Folder).LoadDocument();
        Assert.That((document.IsStopped, $"{document.Results.Single().Outcome}"), Is.EqualTo((true, "valid")));
    }

    [Test]
    public async Task A_folder_that_cannot_be_made_is_refused_before_the_load()
    {
        var file = Path.Combine(Parent, "file");
        await File.WriteAllTextAsync(file, "");

        var result = await RunnerProcess.RunAsync("load", "--framework", "bare", "--mode", "shared", "--rate", "5/s", "--out", Path.Combine(file, "load"));

        Assert.That((result.ExitCode, result.Output), Is.EqualTo((ExitCode.Usage, "")));
        Assert.That(result.Errors, Does.StartWith("error: Cannot make the folder ").And.Contain("Name a new folder with --out."));
    }

    [TestCase("--scenario query --seed-rows 0", "The scenario 'query' looks seeded rows up, and --seed-rows 0 seeds none.")]
    [TestCase("--concurrency 20 --pool 5", "20 handlers in dtc-off need a pool of 20 connections or more, and it has 5 (--pool)")]
    [TestCase(
        "--concurrency 400 --pool 400 --senders 500",
        "its load needs up to 1,313 connections to PostgreSQL, senders included, and the kit starts its own server with at most 1,000; " +
        "name fewer handlers or senders")]
    public async Task What_cannot_be_loaded_is_refused(string typed, string reason)
    {
        var result = await RunnerProcess.RunAsync(
            ["load", "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off", "--rate", "5", "--out", Folder, .. typed.Split(' ')]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.Not.EqualTo(ExitCode.Success));
            Assert.That(result.Errors, Does.Contain(reason));
            Assert.That(Folder, Does.Not.Exist);
        }
    }

    [Test]
    public async Task A_folder_that_exists_is_refused_and_left_alone()
    {
        var result = await RunnerProcess.RunAsync("load", "--framework", "bare", "--rate", "5", "--out", Parent);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
            Assert.That(result.Errors, Does.Contain($"{Parent} exists."));
            Assert.That(Directory.EnumerateFileSystemEntries(Parent), Is.Empty);
        }
    }
}
