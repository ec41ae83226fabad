using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;

namespace Kit.Tests.Proofs;

/// <summary>The rest of a proof is tried on servers of the same versions, which its report names.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "No proof is made there.")]
public sealed class ResumedProof
{
    private const string Text =
        """
        {
          "name": "orders",
          "databases": ["orders"],
          "start": { "command": ["sleep", "1"], "environment": { "DATABASE": "{{postgresql:orders}}" } },
          "send": { "database": "orders", "sql": "INSERT INTO job VALUES ('{{id}}')" },
          "effects": [ { "name": "row", "database": "orders", "sql": "SELECT id FROM placed_order" } ],
          "idle": [ { "database": "orders", "sql": "SELECT count(*) FROM job" } ],
          "promise": "exactly-once"
        }
        """;

    [Test]
    public async Task On_another_version_of_a_server_is_refused()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        var file = ProofFileReader.Parse("orders.proof.json", Text);
        new ProofFolder(folder.Path).Save(new ProofDocument
        {
            Name = file.Name,
            StartedUtc = DateTimeOffset.UnixEpoch,
            Fingerprint = Build.OfThis().Fingerprint,
            ProofFile = Text,
            Service = StoredSubject.FingerprintOf(file),
            Servers = new Dictionary<string, string> { ["postgresql"] = "9.6" },
            Promised = [],
            Points = [new CrashPoint(1, new RequestId("orders", "COMMIT", "COMMIT", 1, 1), Before: null, HasAnswer: true, CanBeProved: true)],
        });

        await Assert.ThatAsync(
            () => new ProofRun(new ProofPlan(file, folder.Path, Only: null, Budget: null), (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains("has the proof of other servers (server, postgresql: 9.6 then, ").And.Property("IsUsage").True);
    }
}
