using System.Text.Json;
using Kit.Guarantees;
using Kit.Prove.Drains;
using Kit.Prove.Files;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Proofs;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>A worker that polls a table is measured, from outside. It is a shell script that feeds psql.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "The worker is a shell script.")]
public sealed class DrainOfAService : WorkersOnPsql
{
    private const int Messages = 100;
    private const int WarmUp = 100;

    internal const string Right = "INSERT INTO invoice SELECT id FROM done";
    internal const string InThreeTrips = $"{Right}; COMMIT";
    internal const string InThreeTripsOption = "-v AUTOCOMMIT=off";
    internal const string Invoices = "SELECT job_id FROM invoice";
    internal const string ToJob = "INSERT INTO job VALUES ('{{id}}')";
    private const string WithoutMoment = "since its start the service has committed no row with its id in a table that its statement names";

    [Test]
    public async Task Is_measured_in_rounds_that_can_be_continued()
    {
        using var folder = new TemporaryFolder();
        var file = folder.Below($"polling{ProofFile.Suffix}");
        File.WriteAllText(file, TextOf(Right));
        string[] arguments = ["drain", file, "--messages", $"{Messages}", "--warm-up", $"{WarmUp}", "--out", folder.Below("drain")];

        var result = await RunnerProcess.ProveAsync([.. arguments, "--rounds", "1"]);
        var continued = await RunnerProcess.ProveAsync([.. arguments, "--rounds", "2"]);

        Assert.That(
            (result.ExitCode, continued.ExitCode), Is.EqualTo((ExitCode.Success, ExitCode.Success)),
            result.Output + result.Errors + continued.Output + continued.Errors);
        Assert.That(continued.Output, Does.Contain("polling handles ").And.Contain("95 % interval").And.Not.Contain("Round 1 of 2:"));
        var document = new DrainFolder(folder.Below("drain")).LoadDocument();
        var round = document.Counting[0];
        Assert.That(document.Counting, Has.Count.EqualTo(2));
        Assert.That(round.Accounts, Is.EquivalentTo(new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = Messages + WarmUp }));
        Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(Messages - 1));
        Assert.That(round.MostAtOneMoment, Is.EqualTo(1));
        Assert.That(round.StartSeconds, Is.GreaterThan(0));
        // Each message is a transaction, and a poll that finds nothing is one.
        Assert.That(round.Costs.Commits.Value, Is.GreaterThan(0.99).And.LessThan(10));
        Assert.That(round.Costs.WalBytes.Value, Is.GreaterThan(50));
        Assert.That(document.Traced!.Outcome.IsValid(), Is.True, string.Join("; ", document.Traced.Outcome.Reasons));
        Assert.That(document.Traced.Network!.SqlStatements.Value, Is.GreaterThan(0.99));
        Assert.That(document.Traced.Network.SqlRoundTrips.Value, Is.GreaterThan(0.99));
        Assert.That(document.Traced.Sessions, Is.Not.Empty);
        Assert.That(document.Handling!.Mode, Is.EqualTo(new SeenMode("exactly-once", "shared", "one commit has the receive and every effect")));
        Assert.That(result.Output, Does.Contain("Commit 1, in orders: DELETE job, INSERT invoice").And.Contain("round trips to PostgreSQL"));

        var again = await RunnerProcess.ProveAsync("report", folder.Below("drain"));
        Assert.That(again.Output, Does.Contain(new DrainTables(document).Summary).And.Contain("drain.md"), again.Errors);

        new DrainFolder(folder.Below("drain")).Save(document with { Planned = 3 });
        var fewer = await RunnerProcess.ProveAsync([.. arguments, "--rounds", "1"]);
        Assert.That(fewer.Output, Does.Contain("\n3 rounds were asked for before, and all of them are made.").And.Contain("\nRound 3 of 3: "), fewer.Errors);

        new DrainFolder(folder.Below("drain")).Save(document with { Host = document.Host with { Cores = 1_000 } });
        var elsewhere = await RunnerProcess.ProveAsync([.. arguments, "--rounds", "3"]);
        Assert.That(elsewhere.ExitCode, Is.EqualTo(ExitCode.Usage), elsewhere.Output);
        Assert.That(elsewhere.Errors, Does.Contain("another machine, server, disk or source of moments (machine, cores: 1000 then, "));
    }

    /// <summary>A transaction begins, handles a message and commits, in three round trips of the only connection.</summary>
    [Test]
    [Exhaustive]
    public async Task Waits_for_each_round_trip_to_a_distant_server()
    {
        const double Far = 10;
        using var folder = new TemporaryFolder();
        var file = folder.Below($"polling{ProofFile.Suffix}");
        File.WriteAllText(file, TextOf(InThreeTrips, options: InThreeTripsOption));
        string[] arguments = ["drain", file, "--messages", $"{Messages}", "--warm-up", $"{WarmUp}", "--rounds", "1", "--out", folder.Below("drain")];

        var result = await RunnerProcess.ProveAsync([.. arguments, "--rtt", "10ms"]);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var document = new DrainFolder(folder.Below("drain")).LoadDocument();
        var (round, traced) = (document.Counting.Single(), document.Traced!);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(document.RoundTrip, Is.EqualTo("10ms"));
            foreach (var network in new[] { round.Network!, traced.Network! })
            {
                Assert.That(network.SqlRoundTrips.Value, Is.GreaterThan(2.99));
                Assert.That(network.Trip.MeanMilliseconds, Is.GreaterThanOrEqualTo(Far));
            }

            Assert.That(round.OffsetsMilliseconds[^1], Is.GreaterThanOrEqualTo((Messages - 1) * 3 * Far), "each message waits for its round trips");
            Assert.That(round.Sessions, Is.Null, "a round is not sampled");
            Assert.That(traced.Sessions, Is.Not.Empty);
            Assert.That(result.Output, Does.Contain("messages a second with 10ms added to each round trip"));
        }

        var near = await RunnerProcess.ProveAsync(arguments);
        Assert.That(near.ExitCode, Is.EqualTo(ExitCode.Usage), near.Output);
        Assert.That(near.Errors, Does.Contain("has the drain of another distance: --rtt 10ms."));
    }

    [Test]
    public async Task Does_not_count_if_a_message_is_lost()
    {
        var round = await RoundOfAsync($"{Right} WHERE (SELECT count(*) FROM invoice) < 100", quiet: TimeSpan.FromSeconds(2));

        Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Invalid), $"{round.Outcome} {string.Join("; ", round.Outcome.Reasons)}");
        // The first message was handled before the round.
        Assert.That(round.Outcome.Reasons, Has.Exactly(1).Items.And.One.StartsWith("messages lost: 101 ("));
        Assert.That(round.Accounts[DeliveryClass.Lost], Is.EqualTo(101));
        Assert.That(round.OffsetsMilliseconds, Is.Empty);
    }

    [Test]
    [Exhaustive]
    public async Task Says_that_the_service_handles_only_what_comes_while_it_runs()
    {
        var round = await RoundOfAsync(Right, "sent > (SELECT backend_start + interval '1 s' FROM pg_stat_activity WHERE pid = pg_backend_pid())");

        Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Error));
        Assert.That(
            round.Outcome.Reasons.Single(),
            Does.Contain("it did not handle a first message within 12 s").And.Contain("only what comes while it runs cannot be drained"));
    }

    [Test]
    [Exhaustive]
    public async Task Says_that_the_service_handles_nothing_of_many()
    {
        var round = await RoundOfAsync(Right, "(SELECT count(*) FROM job) < 5");

        Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Stalled), $"{round.Outcome} {string.Join("; ", round.Outcome.Reasons)}");
        Assert.That(
            round.Outcome.Reasons.Single(),
            Is.EqualTo(
                "no progress for 12 s with 200 messages left: it handled nothing of 200 messages that waited when it started, and had handled one alone"));
    }

    [Test]
    public async Task Says_that_the_service_has_ended()
    {
        var round = await RoundOfAsync(
            $"{Right} WHERE CASE WHEN (SELECT count(*) FROM invoice) < 20 THEN true ELSE 1 / (SELECT 0 * count(*) FROM invoice) > 0 END",
            options: "-v ON_ERROR_STOP=1");

        Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Error));
        Assert.That(round.Outcome.Reasons.Single(), Does.Contain("it ended by itself with exit code").And.Contain("division by zero"));
    }

    [Test]
    public async Task Says_which_effect_has_no_moment()
    {
        var round = await RoundOfAsync(Right, effect: "SELECT job_id FROM invoice_view");

        Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Error));
        Assert.That(round.Outcome.Reasons.Single(), Does.Contain(WithoutMoment));
    }

    [Test]
    public async Task Does_not_time_what_the_kit_put_in()
    {
        // The kit writes the id into a table that the statement names, and the service only deletes.
        var round = await RoundOfAsync(
            "SELECT FROM done", effect: "SELECT id FROM purchase WHERE NOT EXISTS (SELECT FROM job WHERE job.id = purchase.id)",
            send: "WITH bought AS (INSERT INTO purchase VALUES ('{{id}}')) INSERT INTO job VALUES ('{{id}}')");

        Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Error), $"{round.Outcome} {string.Join("; ", round.Outcome.Reasons)}");
        Assert.That(round.Outcome.Reasons.Single(), Does.Contain(WithoutMoment));
        Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(Messages + WarmUp));
    }

    [Test]
    public async Task Does_not_count_if_a_commit_has_too_many_messages()
    {
        var round = await RoundOfAsync(Right, most: 10);

        Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Invalid), $"{round.Outcome} {string.Join("; ", round.Outcome.Reasons)}");
        Assert.That(
            round.Outcome.Reasons.Single(),
            Does.StartWith("10 messages had an effect at one moment, more than 1 % of 100: give --messages at least 1000, "));
        Assert.That(round.MostAtOneMoment, Is.EqualTo(10));
    }

    /// <summary>Somebody stops it when it looks right. Until then each round is a drain of its own, and nobody has added rounds.</summary>
    [Test]
    [Exhaustive]
    public async Task Of_two_builds_names_the_rounds_that_a_stop_left_out()
    {
        using var folder = new TemporaryFolder();
        using var stop = new CancellationTokenSource();
        var plan = DrainPlan.Of(ProofFileReader.Parse("polling.proof.json", TextOf(Right)), "", Messages, WarmUp, rounds: 3);
        List<string> said = [];

        var compared = await TwoBuilds.RunAsync(
            plan with { Folder = folder.Below(TwoBuilds.Before) }, plan with { Folder = folder.Below(TwoBuilds.After) }, Say, stop.Token);

        var (before, after) = (
            new DrainFolder(folder.Below(TwoBuilds.Before)).LoadDocument(), new DrainFolder(folder.Below(TwoBuilds.After)).LoadDocument());
        using (Assert.EnterMultipleScope())
        {
            Assert.That((before.Missing, after.Missing), Is.EqualTo((new[] { 2, 3 }, new[] { 3 })), string.Join('\n', said));
            Assert.That((before.Prolonged, after.Prolonged), Is.EqualTo(((string?)null, (string?)null)));
            Assert.That(compared.Lines.Skip(1).Take(2), Is.EqualTo(new[] { "2 of 3 rounds not made.", "1 of 3 rounds not made." }));
            Assert.That(compared.IsSound, Is.False);
        }

        void Say(string line)
        {
            said.Add(line);
            if (line == "Round 2, before:")
                stop.Cancel();
        }
    }

    private async Task<DrainRound> RoundOfAsync(
        string insert, string waiting = "true", string options = "", string effect = Invoices, string send = ToJob, int most = 1, TimeSpan? quiet = null)
    {
        var plan = DrainPlan.Of(
            ProofFileReader.Parse("polling.proof.json", TextOf(insert, waiting, options, effect, send, most)), "unused", Messages, WarmUp, rounds: 1) with
        {
            StallLimit = TimeSpan.FromSeconds(12),
            Quiet = quiet ?? Drain.DefaultQuiet,
        };
        return await new ServiceRound(plan, await Shared.GetAsync(plan.File), disk: null, new Progress<int>()).RunAsync(1, 1, CancellationToken.None);
    }

    /// <param name="insert">The effect of a message in <c>done</c>.</param>
    /// <param name="waiting">Of the messages that it takes.</param>
    /// <param name="options">Of psql.</param>
    /// <param name="effect">The statement that reads it.</param>
    /// <param name="send">The statement that sends it.</param>
    /// <param name="most">Messages that it takes at a time.</param>
    internal static string TextOf(
        string insert, string waiting = "true", string options = "", string effect = Invoices, string send = ToJob, int most = 1) =>
        JsonSerializer.Serialize(new
        {
            name = "polling",
            databases = new[] { "orders" },
            setup = new
            {
                orders = new[]
                {
                    "CREATE TABLE job (id uuid, sent timestamptz DEFAULT clock_timestamp())", "CREATE TABLE invoice (job_id uuid)",
                    "CREATE VIEW invoice_view AS SELECT job_id FROM invoice", "CREATE TABLE purchase (id uuid)",
                },
            },
            start = new
            {
                command = new[]
                {
                    "sh", "-c",
                    $"""
                    # psql itself sleeps, so that it handles nothing in a burst after it has been slow.
                    while :; do
                      echo "WITH done AS (DELETE FROM job WHERE id IN (SELECT id FROM job WHERE {waiting} LIMIT {most}) RETURNING id) {insert};" || exit
                      echo '\! sleep 0.01'
                    done | psql "$DATABASE" -q {options}
                    """,
                },
                environment = new { DATABASE = "{{postgresql:orders:uri}}" },
            },
            send = new { database = "orders", sql = send },
            effects = new[] { new { name = "invoice", database = "orders", sql = effect } },
            idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
            promise = "exactly-once",
        });
}
