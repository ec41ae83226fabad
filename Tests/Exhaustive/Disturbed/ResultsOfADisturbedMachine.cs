using System.Globalization;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;
using Kit.Tests.Exhaustive.Proofs;

namespace Kit.Tests.Exhaustive.Disturbed;

/// <summary>
/// Commands of the kit on a machine on which things go wrong. Every result is right, INVALID, VOID or an error that names its cause. A round is wrong if
/// it is valid and its costs for a message are not those of an undisturbed one; an experiment is wrong if it breaks a promise that its mode keeps.
/// </summary>
[NonParallelizable]
public sealed class ResultsOfADisturbedMachine
{
    private const int Messages = 200;

    /// <summary>What an endpoint asks when it starts is in the costs too, and it asks again after a lost connection.</summary>
    private const double Tolerance = 0.3;

    private const string WithAFigure = "cost that is right";

    private const string Modes = "full-dtc,dtc-off,shared,transactions-off";

    private const int RoundsOfEach = 5;

    /// <summary>Exactly once, whatever is killed. It connects again after every error.</summary>
    private const string Worker =
        """
        import os, psycopg2, time
        while True:
            try:
                database = psycopg2.connect(os.environ["DATABASE"])
                while True:
                    with database, database.cursor() as cursor:
                        cursor.execute("WITH gone AS (DELETE FROM job RETURNING id) INSERT INTO placed_order SELECT id FROM gone")
                        handled = cursor.rowcount
                    if handled == 0:
                        time.sleep(0.1)
            except psycopg2.Error:
                time.sleep(0.2)
        """;

    private readonly Dictionary<string, int> outcomes = [];
    private TemporaryFolder folder = null!;
    private Dictionary<CellName, (double Commits, double TwoPhase)> undisturbed = [];

    private string Temporary => Directory.CreateDirectory(Path.Combine(folder.Path, "temporary")).FullName;

    [OneTimeSetUp]
    public async Task MeasureUndisturbed()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Processes are found and stopped on Linux.");
        PostgreSqlServer.IgnoreWithoutPrograms();
        folder = new TemporaryFolder();
        var path = Path.Combine(folder.Path, "undisturbed");
        var result = await RunnerProcess.RunAsync([.. Run(rounds: 2), "--out", path]);
        Assert.That(result.ExitCode, Is.Zero, result.Output + result.Errors);
        undisturbed = RunFolder.Open(path).Load().Rounds.GroupBy(round => round.Cell).ToDictionary(
            same => same.Key,
            same => (same.Average(round => round.Costs.Commits.Value!.Value), same.Average(round => round.Costs.TwoPhaseCommits.Value!.Value)));
    }

    [OneTimeTearDown]
    public void RemoveFolder()
    {
        TestContext.Progress.WriteLine(string.Join('\n', outcomes.OrderBy(outcome => outcome.Key).Select(outcome => $"{outcome.Key}: {outcome.Value}")));
        folder?.Dispose();
        if (outcomes.Keys.Any(outcome => outcome.StartsWith("round ", StringComparison.Ordinal)))
            Assert.That(outcomes, Contains.Key(WithAFigure), "no round was valid with its costs, so nothing could be wrong");
    }

    [Test]
    public async Task No_round_is_valid_and_wrong([Range(1, 12)] int seed)
    {
        var (result, path) = await DisturbedAsync(seed, Run(RoundsOfEach));

        var rounds = RunFolder.IsIn(path) ? RunFolder.Open(path).Load().Rounds : [];
        if (rounds.Count < 4 * RoundsOfEach)
            CountAnError("run that stopped", result);
        foreach (var round in rounds)
        {
            Count($"round {round.Outcome}{(round.Outcome.IsValid() && round.Noise.IsNoisy() ? ", noisy" : "")}");
            if (!round.Outcome.IsValid())
            {
                Assert.That(round.Outcome.Reasons, Is.Not.Empty);
                TestContext.Out.WriteLine($"{round.Name}: {round.Outcome}: {string.Join("; ", round.Outcome.Reasons)}");
                continue;
            }

            var (commits, twoPhase) = undisturbed[round.Cell];
            Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(Messages), round.Name);
            Assert.That(round.Handled, Is.EqualTo(Messages), round.Name);
            Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(Messages).And.Ordered, round.Name);
            AssertThatIsRight(round.Costs.Commits, commits, round.Name);
            AssertThatIsRight(round.Costs.TwoPhaseCommits, twoPhase, round.Name);
        }

        if (!Disturbances.EndsAServer(seed) && !rounds.Any(round => round.Outcome.IsValid()))
            Assert.Inconclusive($"Nothing was measured, so nothing could be wrong: {result.Errors}");
    }

    [Test]
    public async Task No_experiment_breaks_a_promise_that_its_mode_keeps([Range(11, 15)] int seed)
    {
        var (result, path) = await DisturbedAsync(
            seed,
            "faults", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,shared",
            "--fault", "poison,throw-after-insert,kill-before-commit,cut-at-commit,settings-left");

        AssertNoneIsBroken(result, path, "experiment");
    }

    [Test]
    public async Task No_storm_is_kept_without_its_faults([Range(21, 22)] int seed)
    {
        var (result, path) = await DisturbedAsync(
            seed, "faults", "--storm", "--kills", "3", "--cuts", "3", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,shared");

        foreach (var storm in AssertNoneIsBroken(result, path, "storm").Where(storm => storm.Verdict is FaultVerdict.Kept))
            Assert.That((storm.Storm!.Kills, storm.Storm.Cuts), Is.EqualTo((3, 3)), storm.Name);
    }

    [Test]
    public async Task No_load_is_valid_and_wrong([Range(31, 35)] int seed)
    {
        var (result, path) = await DisturbedAsync(
            seed,
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,shared", "--rate", "50/s", "--for", "6s", "--warmup", "50",
            "--seed-rows", "100");

        if (!new LoadFolder(path).Exists || new LoadFolder(path).LoadDocument().Results is not { Count: > 0 } loads)
        {
            CountAnError("load without a result", result);
            return;
        }

        foreach (var load in loads)
        {
            Count($"load {load.Outcome}");
            if (load.Outcome.IsValid())
                Assert.That(load.Accounts.Where(account => account.Value > 0).Select(account => account.Key), Is.EqualTo([DeliveryClass.Once]));
            else
                Assert.That(load.Outcome.Reasons, Is.Not.Empty);
        }
    }

    [Test]
    public async Task No_proof_refutes_a_right_worker([Range(41, 42)] int seed)
    {
        await WorkerInPython.IgnoreWithoutItAsync();
        var file = folder.Below($"worker-{seed}.proof.json");
        await File.WriteAllTextAsync(file, ServicesThatLookRight.OfJobs("worker", Worker, ""));

        var (result, path) = await DisturbedAsync(seed, RunnerProcess.ProvePath, [file, "--budget", "60s"]);

        if (!new ProofFolder(path).Exists || new ProofFolder(path).LoadDocument().Results is not { Count: > 0 } proofs)
        {
            CountAnError("proof without a result", result);
            return;
        }

        foreach (var proof in proofs)
        {
            Count($"proof {proof.Verdict}");
            Assert.That(proof.Verdict, Is.Not.EqualTo(FaultVerdict.Broken), string.Join("; ", proof.Violations));
        }
    }

    /// <summary>A cost that could not be read has no figure, and says why.</summary>
    private void AssertThatIsRight(Reading cost, double undisturbed, string round)
    {
        if (cost.Value is { } value)
            Assert.That(value, Is.EqualTo(undisturbed).Within(Tolerance), round);
        else
            Assert.That(cost.Because, Is.Not.Null.And.Not.Empty, round);
        Count(cost.Value is null ? "cost without a figure" : WithAFigure);
    }

    private static string[] Run(int rounds) =>
    [
        "run", "--framework", "bare", "--transport", "postgresql", "--mode", Modes, "--messages", $"{Messages}", "--warmup", "50", "--seed-rows", "100",
        "--rounds", $"{rounds}", "--no-repeat",
    ];

    private IEnumerable<FaultResult> AssertNoneIsBroken(RunnerResult result, string path, string what)
    {
        if (!new FaultFolder(path).Exists || new FaultFolder(path).LoadResults() is not { Count: > 0 } experiments)
        {
            CountAnError($"{what} without a result", result);
            return [];
        }

        foreach (var experiment in experiments)
        {
            Count($"{what} {experiment.Verdict}");
            Assert.That(
                experiment.Verdict is FaultVerdict.Broken && experiment.Known is null, Is.False,
                $"{experiment.Name}: {string.Join("; ", experiment.Violations.Select(violation => violation.ToString()))}");
            if (experiment.Verdict is FaultVerdict.Void or FaultVerdict.Failed)
                Assert.That(experiment.Because, Is.Not.Null.And.Not.Empty, experiment.Name);
        }

        return experiments;
    }

    private Task<(RunnerResult Result, string Path)> DisturbedAsync(int seed, params string[] arguments) =>
        DisturbedAsync(seed, RunnerProcess.ProgramPath, arguments);

    private async Task<(RunnerResult Result, string Path)> DisturbedAsync(int seed, string program, string[] arguments)
    {
        var path = Path.Combine(folder.Path, seed.ToString(CultureInfo.InvariantCulture));
        var temporary = Directory.CreateDirectory(Path.Combine(Temporary, $"{seed}")).FullName;
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(temporary, (UnixFileMode)0b111_111_111);
        using var runner = RunnerProcess.Start(
            new Dictionary<string, string> { [ServerPlace.Variable] = temporary, ["TMPDIR"] = temporary }, program,
            [.. arguments, "--out", path]);
        await using var disturbances = Disturbances.Of(seed, runner.Id, temporary);
        var result = await runner.EndAsync();
        await TestContext.Out.WriteLineAsync($"seed {seed}: exit code {result.ExitCode}; {disturbances}");
        return (result, path);
    }

    private void Count(string outcome) => outcomes[outcome] = outcomes.GetValueOrDefault(outcome) + 1;

    /// <summary>A command that has no result, or not all of them, says why.</summary>
    private void CountAnError(string command, RunnerResult result)
    {
        Count(command);
        Assert.That(result.ExitCode, Is.Not.Zero, result.Output);
        Assert.That(result.Errors, Is.Not.Empty);
        TestContext.Out.WriteLine($"{command}: {result.Errors}");
    }
}
