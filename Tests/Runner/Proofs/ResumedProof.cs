using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;

namespace Kit.Tests.Proofs;

/// <summary>The rest of a proof is tried on servers of the same versions. Its report names them, and what is still to be tried.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "No proof is made there.")]
public sealed class ResumedProof
{
    private const string Text =
        """
        {
          "name": "orders",
          "databases": ["orders"],
          "start": { "command": ["no-such-program"], "environment": { "DATABASE": "{{postgresql:orders}}" } },
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
        Begin(file, folder.Path, new Dictionary<string, string> { ["postgresql"] = "9.6" });

        await Assert.ThatAsync(
            () => new ProofRun(new ProofPlan(file, folder.Path, Only: null, Budget: null), (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains("has the proof of other servers (server, postgresql: 9.6 then, ").And.Property("IsUsage").True);
    }

    /// <summary>A killed process cannot say afterwards that it was. Here no application can be started, and each experiment fails.</summary>
    [Test]
    public async Task Names_what_it_has_not_tried_while_it_goes_on()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        var file = ProofFileReader.Parse("orders.proof.json", Text);
        await using (var servers = await ProofServers.StartAsync(file, CancellationToken.None))
            Begin(file, folder.Path, servers.Versions);
        var stored = new ProofFolder(folder.Path);
        List<(int Made, int Planned, ProofDocument Then)> seen = [];
        using var stop = new CancellationTokenSource();

        var ended = await new ProofRun(new ProofPlan(file, folder.Path, Only: null, Budget: null), Look, _ => { }).RunAsync(stop.Token);

        var (made, planned, then) = seen[0];
        using (Assert.EnterMultipleScope())
        {
            Assert.That(then.NotTried, Has.Count.EqualTo(planned - made).And.No.Member(then.Results.Single().Point.Token));
            Assert.That(then.NotTriedBecause, Is.EqualTo("the proof goes on, or its process died"));
            Assert.That((ended.NotTried, ended.NotTriedBecause), Is.EqualTo((then.NotTried, "it was stopped")));
        }

        void Look(ProofResult result, int done, int all)
        {
            seen.Add((done, all, stored.LoadDocument()));
            stop.Cancel();
        }
    }

    private static void Begin(ProofFile file, string folder, IReadOnlyDictionary<string, string> servers) =>
        new ProofFolder(folder).Save(new ProofDocument
        {
            Name = file.Name,
            StartedUtc = DateTimeOffset.UnixEpoch,
            Fingerprint = Build.OfThis().Fingerprint,
            ProofFile = Text,
            Service = StoredSubject.FingerprintOf(file),
            Servers = servers,
            Promised = [],
            Points = [new CrashPoint(1, new RequestId("orders", "COMMIT", "COMMIT", 1, 1), Before: null, HasAnswer: true, CanBeProved: true)],
        });
}
