using Kit.Runner.Comparing;
using Kit.Runner.Proofs;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;

namespace Kit.Tests.Proofs;

/// <summary>A proof is continued only with what it began with.</summary>
[Parallelizable]
public sealed class FolderOfAProof
{
    private const string Text =
        """
        {
          "name": "orders",
          "queues": ["orders"],
          "start": { "command": ["orders"], "environment": { "BROKER": "{{rabbitmq}}" } },
          "send": { "queue": "orders", "body": "{{id}}" },
          "effects": [ { "name": "row", "queue": "orders.placed" } ],
          "promise": "at-least-once"
        }
        """;

    private TemporaryFolder temporary = null!;

    [SetUp]
    public void MakeFolder() => temporary = new TemporaryFolder();

    [TearDown]
    public void DeleteFolder() => temporary.Dispose();

    [Test]
    public Task Of_another_file_is_refused() => IsRefusedAsync(Begun with { ProofFile = Text + " " }, "another file");

    [Test]
    public Task Of_another_program_is_refused() => IsRefusedAsync(Begun with { Given = "Orders.dll" }, "another program: Orders.dll");

    [Test]
    public Task Of_another_build_of_the_kit_is_refused() => IsRefusedAsync(Begun with { Fingerprint = "01" }, "another build of the kit");

    private static ProofDocument Begun { get; } = new()
    {
        Name = "orders",
        StartedUtc = DateTimeOffset.UnixEpoch,
        Fingerprint = Build.OfThis().Fingerprint,
        ProofFile = Text,
        Promised = [],
    };

    private async Task IsRefusedAsync(ProofDocument begun, string because)
    {
        var file = ProofFileReader.Parse("orders.proof.json", Text);
        new ProofFolder(temporary.Path).Save(begun);

        await Assert.ThatAsync(
            () => new ProofRun(new ProofPlan(file, temporary.Path, Only: null, Budget: null), (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains($"has the proof of {because}").And.Property("IsUsage").True);
    }
}
