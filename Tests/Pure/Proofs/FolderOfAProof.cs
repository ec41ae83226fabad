using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;

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

    [Test]
    public void In_which_another_process_works_is_refused()
    {
        new ProofFolder(temporary.Path).Save(Begun);
        using var other = FolderClaim.Take(temporary.Path);
        var plan = new ProofPlan(ProofFileReader.Parse("orders.proof.json", Text), temporary.Path, Only: null, Budget: null);

        Assert.That(
            async () => await new ProofRun(plan, (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.StartsWith("A command is writing into "));
    }

    [Test]
    public void Of_other_files_is_refused_and_a_file_too()
    {
        var file = Path.Combine(temporary.Path, "notes.txt");
        Assert.That(new ProofFolder(temporary.Path).Check, Throws.Nothing, "it is empty");
        File.WriteAllText(file, "mine");

        Assert.That(new ProofFolder(file).Check, Throws.TypeOf<KitException>().With.Message.EndsWith(" is a file."));
        Assert.That(new ProofFolder(temporary.Path).Check, Throws.TypeOf<KitException>().With.Message.EndsWith(" has other files, and no proof."));
        new ProofFolder(temporary.Path).Save(Begun);
        Assert.That(new ProofFolder(temporary.Path).Check, Throws.Nothing, "it has a proof");
    }

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
