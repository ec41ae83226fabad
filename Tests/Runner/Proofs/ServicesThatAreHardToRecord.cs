using System.Text.Json;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Handlings;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;

namespace Kit.Tests.Proofs;

/// <summary>Workers that are shell scripts: one starts slowly, and the others handle in a function of the database.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "The worker is a shell script.")]
public sealed class ServicesThatAreHardToRecord : WorkersOnPsql
{
    private const string Handle = "WITH gone AS (DELETE FROM job RETURNING id) INSERT INTO invoice SELECT id FROM gone";

    /// <summary>The trial gives a start a minute.</summary>
    [Test]
    [Exhaustive]
    public async Task One_that_starts_slowly_is_looked_at_and_recorded()
    {
        var file = FileOf($"sleep 45; while :; do psql \"$DATABASE\" -qAtc '{Handle}'; sleep 0.2; done");

        var seen = Observation.LookAsync(file, await Shared.GetAsync(file.WithCommits), CancellationToken.None);
        var recorded = await new ProofJudge(file).ExperimentsOn(await Shared.GetAsync(file)).RecordAsync(CancellationToken.None);

        Assert.That(recorded.Points, Is.Not.Empty);
        Assert.That((await seen).Mode.Promise, Is.EqualTo("exactly-once"), (await seen).Mode.Because);
    }

    /// <summary>The call always answers with one row, so it counts as a poll.</summary>
    [Test]
    public async Task One_that_does_everything_in_a_function_is_told_so() => await Assert.ThatAsync(
        () => RecordAsync(FileOf("while :; do psql \"$DATABASE\" -qAtc 'SELECT handle_next()'; sleep 0.2; done")),
        Throws.TypeOf<KitException>().With.Message.Contains("cannot be told from those of a poll that finds nothing: SELECT handle_next() (orders)"));

    [Test]
    [Exhaustive]
    public async Task One_that_writes_its_effect_in_a_function_is_not_proved()
    {
        const string Worker =
            """
            while :; do
              id=$(psql "$DATABASE" -qAtc 'SELECT handle_next()')
              [ -z "$id" ] || psql "$DATABASE" -qAtc "INSERT INTO log VALUES ('$id')"
              sleep 0.2
            done
            """;

        var recorded = await RecordAsync(FileOf(Worker));

        Assert.That(recorded.Untried, Is.EqualTo(["SELECT handle_next() (orders)"]));
    }

    private async Task<ProofDocument> RecordAsync(ProofFile file)
    {
        var servers = await Shared.GetAsync(file);
        return await new Recording(file, servers, _ => { }).MakeAsync(
            new ProofDocument { Name = file.Name, StartedUtc = DateTimeOffset.UnixEpoch, ProofFile = file.Text, Promised = [.. file.Promised] },
            new ProofJudge(file) { Waits = MetPoints.OfAShellScript }.ExperimentsOn(servers), CancellationToken.None);
    }

    private static ProofFile FileOf(string worker) => ProofFileReader.Parse("hard.proof.json", JsonSerializer.Serialize(new
    {
        name = "hard",
        databases = new[] { "orders" },
        setup = new
        {
            orders = new[]
            {
                "CREATE TABLE job (id uuid)", "CREATE TABLE invoice (job_id uuid)", "CREATE TABLE log (id uuid)",
                $"CREATE FUNCTION handle_next() RETURNS uuid LANGUAGE sql AS '{Handle} RETURNING job_id'",
            },
        },
        start = new { command = new[] { "sh", "-c", worker }, environment = new { DATABASE = "{{postgresql:orders:uri}}" } },
        send = new { database = "orders", sql = "INSERT INTO job VALUES ('{{id}}')" },
        effects = new[] { new { name = "invoice", database = "orders", sql = "SELECT job_id FROM invoice" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
        promise = "exactly-once",
    }));
}
