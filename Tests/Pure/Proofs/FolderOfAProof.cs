using Kit.Guarantees;
using Kit.Prove.Crashes;
using Kit.Prove.Drains;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>A proof is continued only with what it began with.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "No proof is made there.")]
public sealed class FolderOfAProof
{
    internal const string Text =
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
    public async Task Of_another_build_of_the_service_is_refused()
    {
        const string Scripted = """["sh", "worker.sh"]""";
        var (script, path) = (temporary.Below("worker.sh"), temporary.Below("orders.proof.json"));
        File.WriteAllText(script, "exec orders");
        var file = ProofFileReader.Parse(path, Text.Replace("[\"orders\"], \"env", Scripted + ", \"env", StringComparison.Ordinal));
        var begun = Begun with { ProofFile = file.Text, Service = StoredSubject.FingerprintOf(file) };
        Assert.That(StoredSubject.FingerprintOf(file), Is.EqualTo(begun.Service), "nothing has changed");

        File.WriteAllText(script, "exec orders --fast");

        await IsRefusedAsync(begun, file, "another build of the service");
    }

    /// <summary>A library of a .NET program is not in its command.</summary>
    [TestCase("Orders.dll")]
    [TestCase("My.Orders")]
    public void Of_another_build_of_a_library_is_another_build(string program)
    {
        File.WriteAllText(temporary.Below(program), "start");
        File.WriteAllText(temporary.Below("My.Orders.dll"), "program");
        File.WriteAllText(temporary.Below("Handling.dll"), "one");
        var file = ProofFileReader.Parse(
            temporary.Below("orders.proof.json"), Text.Replace("[\"orders\"], \"env", $"[\"./{program}\"], \"env", StringComparison.Ordinal));
        var before = StoredSubject.FingerprintOf(file);

        File.WriteAllText(temporary.Below("Handling.dll"), "two");

        Assert.That(StoredSubject.FingerprintOf(file), Is.Not.EqualTo(before));
    }

    /// <summary>No server is started for it.</summary>
    [Test]
    public async Task With_nothing_left_to_try_says_so()
    {
        var file = ProofFileReader.Parse("orders.proof.json", Text);
        var ack = new CrashPoint(1, new RequestId("rabbitmq", "basic.ack", Outcome: null, 1, 1), Before: null, HasAnswer: false, CanBeProved: false);
        new ProofFolder(temporary.Path).Save(Begun with
        {
            Service = StoredSubject.FingerprintOf(file),
            Points = [ack],
            Results =
            [
                .. ack.Ways.Select(way => new ProofResult
                {
                    Point = new PointFacts($"orders@1:{way.Facts().Letter}", 1, way, "basic.ack"),
                    Verdict = FaultVerdict.Kept,
                    Class = DeliveryClass.Once,
                }),
            ],
        });
        List<string> said = [];

        await new ProofRun(new ProofPlan(file, temporary.Path, Only: null, Budget: null), (_, _, _) => { }, said.Add).RunAsync(CancellationToken.None);

        Assert.That(said.Single(), Does.StartWith("Nothing was tried now: the results are all of 1970-01-01"));
    }

    /// <summary>A command that leaves the program out is refused.</summary>
    [Test]
    public async Task Says_how_to_repeat_with_the_program_that_was_started()
    {
        await File.WriteAllTextAsync(temporary.Below("orders.proof.json"), Text);
        var program = temporary.Below("Orders.dll");
        await File.WriteAllTextAsync(program, "program");
        var file = ProofFileReader.Parse(temporary.Below("orders.proof.json"), Text, program);
        var ack = new CrashPoint(1, new RequestId("rabbitmq", "basic.ack", Outcome: null, 1, 1), Before: null, HasAnswer: false, CanBeProved: false);
        var folder = temporary.Below("proof");
        Directory.CreateDirectory(folder);
        new ProofFolder(folder).Save(Begun with
        {
            Fingerprint = Build.FingerprintOf(AppContext.BaseDirectory),
            Service = StoredSubject.FingerprintOf(file),
            Given = file.Given,
            Points = [ack],
            Results =
            [
                .. ack.Ways.Select(way => new ProofResult
                {
                    Point = new PointFacts($"orders@1:{way.Facts().Letter}", 1, way, "basic.ack"),
                    Verdict = FaultVerdict.Broken,
                    Class = DeliveryClass.Lost,
                }),
            ],
        });

        var result = await RunnerInProcess.ProveAsync(file.Path, "--start", program, "--out", folder);

        Assert.That(
            result.Output, Does.Contain($"To repeat the first broken promise: kit-prove {file.Path} --start {program} --out {folder} --only orders@1:"),
            result.Errors);
    }

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

    /// <summary>Its results come later, and are not to be replaced.</summary>
    [Test]
    public void In_which_another_process_is_to_save_its_first_result_is_refused()
    {
        var file = ProofFileReader.Parse("orders.proof.json", Text);
        var (proof, drain) = (new ProofPlan(file, temporary.Below("new"), null, null), DrainPlan.Of(file, temporary.Below("new"), 100, 10, 3));
        using var other = FolderClaim.TakeOrCreate(proof.Folder);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                async () => await new ProofRun(proof, (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
                Throws.TypeOf<KitException>().With.Message.StartsWith("A command is writing into "));
            Assert.That(
                async () => await new DrainRun(drain, _ => { }).RunAsync(CancellationToken.None),
                Throws.TypeOf<KitException>().With.Message.StartsWith("A command is writing into "));
        }
    }

    /// <summary>One rate would be the mean of two distances.</summary>
    [TestCase("2ms", "direct")]
    [TestCase(null, "5ms")]
    [TestCase("2ms", "5ms")]
    [TestCase(null, "0ms")]
    public void In_which_a_drain_at_another_distance_began_is_refused(string? then, string now)
    {
        var plan = DrainPlan.Of(ProofFileReader.Parse("orders.proof.json", Text), temporary.Below("drain"), 100, 10, 3) with
        {
            RoundTrip = RoundTripTime.All.Single(trip => trip.Name == now),
        };
        Directory.CreateDirectory(plan.Folder);
        new DrainFolder(plan.Folder).Save(new DrainDocument
        {
            Name = "orders",
            StartedUtc = DateTimeOffset.UnixEpoch,
            Fingerprint = Build.FingerprintOf(AppContext.BaseDirectory),
            ProofFile = Text,
            Service = StoredSubject.FingerprintOf(plan.File),
            Messages = 100,
            WarmUp = 10,
            RoundTrip = then,
            Planned = 3,
            Host = new HostFacts(2, "a processor", 4L << 30, "a system", ".NET"),
        });

        Assert.That(
            async () => await new DrainRun(plan, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.EqualTo($"{plan.Folder} has the drain of another distance: --rtt {then ?? "direct"}.")
                .And.Property("IsUsage").True);
    }

    [Test]
    public void In_which_nothing_was_saved_is_removed()
    {
        Directory.CreateDirectory(temporary.Below("mine"));
        FolderClaim.TakeOrCreate(temporary.Below("mine")).Dispose();
        FolderClaim.TakeOrCreate(temporary.Below("new/results")).Dispose();
        using (FolderClaim.TakeOrCreate(temporary.Below("used/results")))
            new ProofFolder(temporary.Below("used/results")).Save(Begun);

        Assert.That(temporary.Below("mine"), Does.Exist);
        Assert.That(temporary.Below("new"), Does.Not.Exist);
        Assert.That(new ProofFolder(temporary.Below("used/results")).Exists, Is.True);
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

    private Task IsRefusedAsync(ProofDocument begun, string because) =>
        IsRefusedAsync(begun, ProofFileReader.Parse("orders.proof.json", Text), because);

    private async Task IsRefusedAsync(ProofDocument begun, ProofFile file, string because)
    {
        var folder = temporary.Below("proof");
        new ProofFolder(folder).Save(begun);

        await Assert.ThatAsync(
            () => new ProofRun(new ProofPlan(file, folder, Only: null, Budget: null), (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains($"has the proof of {because}").And.Property("IsUsage").True);
    }
}
