using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>Two rounds of all four modes on a named server, and what is left of them.</summary>
/// <remarks>Fixtures begin in the order of their names. This one takes long, and with a later name it would run alone at the end.</remarks>
[Parallelizable]
public sealed class CompletedRun : OnAServerOfItsOwn
{
    private const int Messages = 600;

    private TemporaryFolder parent = null!;
    private IReadOnlyList<string> databasesBefore = [];
    private RunnerResult result = null!;
    private RecordedRun run = null!;

    private string Folder => Path.Combine(parent.Path, "run");

    [OneTimeSetUp]
    public async Task Measure()
    {
        var server = await GetServerAsync();
        databasesBefore = await server.DatabasesAsync();
        parent = new TemporaryFolder();
        result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql",
            "--messages", $"{Messages}", "--warmup", "20", "--seed-rows", "100", "--rounds", "2", "--order-seed", "7",
            "--postgresql", server.ConnectionString, "--out", Folder);
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        run = RunFolder.Open(Folder).Load();
    }

    [OneTimeTearDown]
    public void RemoveRun() => parent?.Dispose();

    [Test]
    public void Every_message_of_every_round_is_accounted_for_once()
    {
        Assert.That(run.Rounds, Has.Count.EqualTo(8));
        foreach (var round in run.Rounds)
        {
            using (Assert.EnterMultipleScope())
            {
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(Messages).And.Ordered);
                Assert.That(
                    round.Accounts.Where(account => account.Value > 0),
                    Is.EqualTo(new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = Messages }));
                Assert.That(round.HandlerEntries, Is.EqualTo(Messages));
                Assert.That(round.ColdPerSecond, Is.Positive);
                Assert.That(round.Clock, Is.EqualTo(ClockSource.CommitTimestamps));
            }
        }
    }

    [Test]
    public void Each_phase_is_measured_once_for_each_message_and_not_in_the_warm_up()
    {
        foreach (var round in run.Rounds)
        {
            using (Assert.EnterMultipleScope())
            {
                foreach (var phase in new[] { round.ServiceTime?.Receive, round.ServiceTime?.Handler, round.ServiceTime?.Commit })
                {
                    Assert.That(phase?.Count, Is.EqualTo(Messages), round.Name);
                    Assert.That(
                        new[] { phase!.P50Milliseconds, phase.P95Milliseconds, phase.P99Milliseconds, phase.MaxMilliseconds },
                        Is.Ordered.And.All.Not.Negative);
                }

                Assert.That(round.SecondPhase?.Count, Is.EqualTo(round.Cell.Mode == "full-dtc" ? Messages : null));
            }
        }

        Assert.That(File.ReadAllText(Path.Combine(Folder, "tables.md")), Does.Contain("## Service time"));
    }

    // What an endpoint asks when it starts, and when it finds nothing more to do, is in the figure too: the slower the machine, the more
    // commits, about 50 to 150, which all messages share.
    // The second phase asks once for each batch whether its branches are decided: on a slow machine a batch can be a branch.
    [TestCase("full-dtc", 3, 4)]
    [TestCase("dtc-off", 2, 2)]
    [TestCase("scope-off", 2, 2)]
    [TestCase("transactions-off", 2, 2)]
    public void Commits_are_those_of_the_mode_and_what_others_share_is_not_measured(string mode, int fewest, int most)
    {
        var rounds = run.Rounds.Where(round => round.Cell.Mode == mode).ToList();
        Assert.That(rounds, Has.Count.EqualTo(2));
        foreach (var round in rounds)
        {
            using (Assert.EnterMultipleScope())
            {
                Assert.That(round.Costs.Commits.Value, Is.InRange(fewest - 0.5, most + 0.5));
                Assert.That(round.Costs.TwoPhaseCommits.Because, Does.Contain("not the kit's own"));
                Assert.That(round.Costs.WalFlushes.Because, Does.Contain("not the kit's own"));
                Assert.That(round.Costs.WalBytes.Because, Does.Contain("not the kit's own"));
                Assert.That(round.Costs.ServerCpuMilliseconds.Because, Is.EqualTo("a server is not the kit's own"));
                Assert.That(round.SecondPhase, mode == "full-dtc" ? Is.Not.Null : Is.Null);
            }
        }
    }

    [Test]
    public void Origin_of_the_figures_is_recorded()
    {
        var document = run.Document;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(document.Ending, Is.EqualTo(RunEnding.Completed));
            Assert.That(document.Commit?.Id, Is.Null.Or.Length.EqualTo(40));
            Assert.That(document.Packages, Contains.Key("Npgsql").And.ContainKey("Dapper").And.ContainKey("NPoco"));
            Assert.That(document.Server, Contains.Key("server_version").And.ContainKey("fsync").And.ContainKey("synchronous_commit"));
            Assert.That(document.Server["server"], Is.EqualTo("PostgreSQL, the user's"));
            Assert.That(
                document.Settings,
                Is.EqualTo(new RunSettings(Messages, Rounds: 2, Concurrency: 2, SeedRows: 100, WarmUp: 20, OrderSeed: 7, Quick: false)));
            Assert.That(document.SeedingSeconds, Is.Positive);
            Assert.That(document.Host.Cores, Is.EqualTo(Environment.ProcessorCount));
            Assert.That(
                document.CommandLine, Does.StartWith($"run --framework bare --transport postgresql --messages {Messages} ").And.Contain("Password=***"));
        }
    }

    [Test]
    public void Lines_say_how_far_it_is_and_where_the_tables_are()
    {
        var lines = result.Output.Split('\n');
        using (Assert.EnterMultipleScope())
        {
            Assert.That(lines[0], Is.EqualTo($"Cells: 4. Rounds of each: 2. Order seed: 7. Results: {Folder}"));
            Assert.That(lines, Has.Exactly(1).Match("^1 of 8: bare/postgresql/[a-z-]+/ado, round 1: [0-9,.]+ msg/s, valid; about [0-9]+ (s|min) left$"));
            Assert.That(lines, Has.Exactly(1).Match("^8 of 8: bare/postgresql/[a-z-]+/ado, round 2: [0-9,.]+ msg/s, valid$"));
            Assert.That(lines, Has.Exactly(1).EqualTo($"Tables and graphs: {Path.Combine(Folder, "tables.md")}"));
            Assert.That(result.Errors, Is.Empty);
        }
    }

    [Test]
    public void No_password_is_in_what_is_left() => Assert.That(Everything(), Does.Not.Contain(Server.Password));

    [Test]
    public async Task One_message_without_warm_up_and_seeded_rows_is_a_run_and_leaves_no_password_of_the_environment()
    {
        var folder = Path.Combine(parent.Path, "environment");
        var environment = new Dictionary<string, string> { ["KIT_POSTGRESQL"] = Server.ConnectionString };
        using var runner = RunnerProcess.Start(
            environment,
            RunnerProcess.ProgramPath,
            [
                "run", "--framework", "bare", "--transport", "postgresql", "--mode", "transactions-off",
                "--messages", "1", "--rounds", "1", "--warmup", "0", "--seed-rows", "0",
                "--out", folder,
            ]);

        var other = await runner.EndAsync();

        Assert.That(other.ExitCode, Is.EqualTo(ExitCode.Success), other.Output + other.Errors);
        Assert.That(RunFolder.Open(folder).Load().Rounds.Single().OffsetsMilliseconds, Has.Count.EqualTo(1));
        Assert.That(Everything() + other.Output + other.Errors, Does.Not.Contain(Server.Password));
    }

    [Test]
    public async Task Databases_of_the_run_are_gone_and_all_others_are_there() =>
        Assert.That(await Server.DatabasesAsync(), Is.EqualTo(databasesBefore));

    [Test]
    public async Task Report_on_a_copy_gives_the_same_tables()
    {
        var copy = Copy("copy");
        File.Delete(Path.Combine(copy, "tables.md"));
        File.Delete(Path.Combine(copy, "rounds.csv"));
        File.Delete(Path.Combine(copy, "graphs.svg"));

        var report = await RunnerProcess.RunAsync("report", copy);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(report.ExitCode, Is.EqualTo(ExitCode.Success));
            foreach (var file in new[] { "tables.md", "rounds.csv", "graphs.svg" })
                Assert.That(await File.ReadAllTextAsync(Path.Combine(copy, file)), Is.EqualTo(await File.ReadAllTextAsync(Path.Combine(Folder, file))));
        }
    }

    [Test]
    public async Task Report_on_a_damaged_copy_names_the_file()
    {
        var copy = Copy("damaged");
        var rounds = Path.Combine(copy, "rounds.jsonl");
        await File.WriteAllTextAsync(rounds, (await File.ReadAllTextAsync(rounds))[200..]);

        var report = await RunnerProcess.RunAsync("report", copy);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(report.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(report.Errors, Does.StartWith($"error: Cannot read {rounds}, line 1, it is damaged: "));
        }
    }

    [Test]
    public async Task What_is_handed_in_has_no_password_and_is_what_its_rounds_give()
    {
        var report = await RunnerProcess.RunAsync("report", Folder, "--check");

        Assert.That(report.ExitCode, Is.EqualTo(ExitCode.Success), report.Output + report.Errors);
        Assert.That(report.Output, Does.EndWith("The run is complete, and every report matches the stored rounds and experiments.\n"));
        foreach (var file in Directory.GetFiles(Folder))
            Assert.That(await File.ReadAllTextAsync(file), Does.Not.Contain(Server.Password), file);
    }

    [Test]
    public async Task What_was_changed_in_a_folder_is_found()
    {
        var copy = Copy("changed");
        await File.AppendAllTextAsync(Path.Combine(copy, "tables.md"), "# A better run");

        var report = await RunnerProcess.RunAsync("report", copy, "--check");

        Assert.That(report.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(report.Errors, Does.StartWith($"error: {copy} differs from its rounds and experiments: tables.md is missing, or does not match them."));
        Assert.That(await File.ReadAllTextAsync(Path.Combine(copy, "tables.md")), Does.EndWith("# A better run"));
    }

    [Test]
    public async Task A_second_run_into_the_folder_is_refused_and_changes_nothing()
    {
        var before = Everything();

        var second = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--messages", "1", "--postgresql", Server.ConnectionString, "--out", Folder);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(second.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(second.Errors, Does.StartWith($"error: The folder {Folder} already contains a run: ").And.Contain("--out"));
            Assert.That(Everything(), Is.EqualTo(before));
        }
    }

    private string Everything() => string.Concat(
        Directory.GetFiles(parent.Path, "*", SearchOption.AllDirectories).Order(StringComparer.Ordinal).Select(file => $"{file}\n{File.ReadAllText(file)}\n"))
        + result.Output + result.Errors;

    private string Copy(string name)
    {
        var copy = Path.Combine(parent.Path, name);
        foreach (var file in Directory.GetFiles(Folder, "*", SearchOption.AllDirectories))
        {
            var target = Path.Combine(copy, Path.GetRelativePath(Folder, file));
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(file, target);
        }

        return copy;
    }
}
