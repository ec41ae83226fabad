using System.Text.Json;
using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Proofs;

/// <summary>A worker that leases a job for four hours before it does it, as most job queues do. It is a shell script that asks with psql.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "The worker is a shell script.")]
public sealed class LeasedWork : WorkersOnPsql
{
    private const string Worker =
        """
        while :; do
          id=$(psql "$DATABASE" -qAtc "UPDATE job SET leased = now() WHERE id = (
            SELECT id FROM job WHERE leased IS NULL OR leased < now() - interval '4 hours' LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id")
          [ -z "$id" ] || psql "$DATABASE" -qAtc "WITH done AS (DELETE FROM job WHERE id = '$id') INSERT INTO invoice VALUES ('$id')"
          sleep 0.2
        done
        """;

    private const string Later = "UPDATE job SET leased = leased - interval '5 hours' WHERE leased IS NOT NULL";

    [Test]
    public async Task Is_done_again_when_its_lease_is_old()
    {
        var met = await KilledAfterTheLeaseAsync(FileWith(later: [new { database = "orders", sql = Later }]));

        Assert.That((met.Class, met.IsAfterLease), Is.EqualTo((DeliveryClass.Once, true)));
        Assert.That(met.Absent, Is.EqualTo(["misspelt"]), "a place that was never there is told");
    }

    [Test, Exhaustive]
    public async Task Is_done_again_when_a_command_has_made_its_lease_old()
    {
        var met = await KilledAfterTheLeaseAsync(FileWith(later: [Command($"psql \"$DATABASE\" -qc \"{Later}\"")]));

        Assert.That((met.Class, met.IsAfterLease), Is.EqualTo((DeliveryClass.Once, true)));
    }

    [Test, Exhaustive]
    public async Task Is_stuck_if_the_file_names_no_way_to_let_time_pass()
    {
        var met = await KilledAfterTheLeaseAsync(FileWith(later: null));

        Assert.That((met.Class, met.IsAfterLease), Is.EqualTo((DeliveryClass.Stuck, false)));
        Assert.That(
            met.Violations,
            Has.One.Match(
                "^work is left: .*: 1; its row in job has changed since it was put in: leased null → 20.*; " +
                "no session and no prepared transaction holds it. If it is a lease, 'later' in the file says how it becomes old$"));
        Assert.That(met.Timeline.Select(step => step.Text), Has.One.StartWith("its row in job has changed since it was put in: leased null → "));
    }

    [Test]
    public async Task A_wrong_statement_is_found_before_any_crash()
    {
        var file = FileWith(later: [new { database = "orders", sql = "UPDATE job SET lease = NULL" }]);

        await Assert.ThatAsync(
            () => TryAsync(file),
            Throws.TypeOf<KitException>()
                .With.Message.Contains("the statement of 'later' \"UPDATE job SET lease = NULL\" in database 'orders' fails: column \"lease\"")
                .And.Property("IsUsage").True);
    }

    [Test]
    public async Task A_command_that_fails_is_found_before_any_crash()
    {
        var file = FileWith(later: [Command("echo no such lease; exit 3")]);

        await Assert.ThatAsync(
            () => TryAsync(file),
            Throws.TypeOf<KitException>()
                .With.Message.EqualTo("leased.proof.json: the command of 'later' ended with exit code 3. Its last output: no such lease.")
                .And.Property("IsUsage").True);
    }

    private static object Command(string shell) =>
        new { command = new[] { "sh", "-c", shell }, environment = new { DATABASE = "{{postgresql:orders:uri}}" } };

    private async Task<Runner.Results.Proofs.ProofResult> KilledAfterTheLeaseAsync(ProofFile file) =>
        (await MetPoints.OfAsync(
            Shared, file, MetPoints.OfAShellScript, point => point.Request.Text.StartsWith("UPDATE job", StringComparison.Ordinal),
            PointWay.Killed)).All.Single();

    private async Task TryAsync(ProofFile file) =>
        await new Trial(file, await Shared.GetAsync(file), _ => { }) { Before = TimeSpan.FromSeconds(0.3) }.RunAsync(CancellationToken.None);

    private static ProofFile FileWith(object[]? later)
    {
        var file = new Dictionary<string, object>
        {
            ["name"] = "leased",
            ["databases"] = new[] { "orders" },
            ["setup"] = new { orders = new[] { "CREATE TABLE job (id uuid, leased timestamptz)", "CREATE TABLE invoice (job_id uuid)" } },
            ["start"] = new { command = new[] { "sh", "-c", Worker }, environment = new { DATABASE = "{{postgresql:orders:uri}}" } },
            ["send"] = new { database = "orders", sql = "INSERT INTO job VALUES ('{{id}}')" },
            ["effects"] = new[] { new { name = "invoice", database = "orders", sql = "SELECT job_id FROM invoice" } },
            ["deadLetters"] = new[]
            {
                new { name = "misspelt", database = "orders", sql = "SELECT id FROM job_eror" },
                new { name = "given-up", database = "orders", sql = "SELECT id FROM job WHERE leased = 'infinity'" },
            },
            ["idle"] = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
            ["promise"] = "exactly-once",
        };
        if (later is not null)
            (file["later"], file["lease"]) = (later, "4 hours");
        return ProofFileReader.Parse("leased.proof.json", JsonSerializer.Serialize(file));
    }
}
