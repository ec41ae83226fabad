using System.Globalization;
using System.Text.Json;
using Kit.Guarantees;
using Kit.Proofs;
using Kit.Prove.Files;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;
using Orders;

namespace Kit.Tests.Samples;

/// <summary>Proofs that a test project asserts, as docs/tutorials/prove-your-service.md shows it.</summary>
[Parallelizable]
public sealed class ProofInATestProject
{
    private static readonly string Samples = Path.Combine(RepositoryFiles.Root, "Samples");

    /// <summary>The service is a shell command.</summary>
    [Test]
    public async Task Passes_if_the_promise_is_kept()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The service of this test is a shell command.");
        using var folder = new TemporaryFolder();
        await File.WriteAllTextAsync(folder.Below("orders.proof.json"), WorkerOnPsql());

        await ProveAsync(Proof.OfFile(folder.Below("orders.proof.json")) with
        {
            Runner = RunnerProcess.ProvePath,
            Only = "orders@1:b",
            Folder = folder.Below("proof"),
        });

        Assert.That(Directory.GetFiles(folder.Below("proof"), "proof.md"), Is.Not.Empty);
    }

    [Test]
    [Exhaustive]
    public async Task Of_a_program_that_the_project_references_passes_if_the_promise_is_kept()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();

        await ProveAsync(Proof.Of<PlaceOrder>(Path.Combine(Samples, "Orders", "shared.proof.json")) with
        {
            Runner = RunnerProcess.ProvePath,
            Only = "shared@1:b",
            Folder = folder.Path,
        });

        Assert.That(Directory.GetFiles(folder.Path, "proof.md"), Is.Not.Empty);
    }

    /// <summary>The runner stops its servers before it ends.</summary>
    [Test]
    public async Task Cancelled_it_leaves_nothing_behind_but_its_folder()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The runner of this test is a shell script.");
        using var folder = new TemporaryFolder();
        using var stop = new CancellationTokenSource();
        // It writes its process id, which is the runner's then.
        var runner = ScriptIn(folder, $"echo $$ > \"{folder.Path}/process\"\nexec \"{RunnerProcess.ProvePath}\" \"$@\"");
        var proof = Proof.OfFile(Path.Combine(Samples, "Orders", "shared.proof.json")) with { Runner = runner, Folder = Path.Combine(folder.Path, "proof") };

        var proving = proof.RunAsync(stop.Token);
        await Eventually.HoldsAsync(() => Started().Skip(1).Any(), "it has started a server");
        var started = Started().Select(ProcessIdentity.Of).OfType<ProcessIdentity>().ToList();
        await stop.CancelAsync();

        Assert.That(async () => await proving, Throws.InstanceOf<OperationCanceledException>());
        await Eventually.HoldsAsync(() => started.TrueForAll(one => one.HasEnded), "the runner and its children have ended");

        // The runner and its children, as far as they are there.
        IEnumerable<int> Started() =>
            File.Exists($"{folder.Path}/process")
            && int.TryParse(File.ReadAllText($"{folder.Path}/process"), NumberStyles.AllowTrailingWhite, CultureInfo.InvariantCulture, out var id)
                ? ChildProcesses.Of(id).Prepend(id)
                : [];
    }

    [TestCase("run.sh", "prove ")]
    [TestCase("kit-prove", "")]
    public async Task Its_settings_are_options_of_the_runner(string name, string first)
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The runner of this test is a shell script.");
        using var folder = new TemporaryFolder();
        var runner = ScriptIn(folder, $"echo \"$@\" > \"{folder.Path}/arguments\"\nexit 2", name);

        await Assert.ThatAsync(
            () => (Proof.OfFile("orders.proof.json") with
            {
                Runner = runner,
                Folder = folder.Path,
                Budget = TimeSpan.FromSeconds(90.7),
                Only = "orders@1:b",
            }).RunAsync(),
            Throws.TypeOf<ProofException>());

        Assert.That(
            File.ReadAllText($"{folder.Path}/arguments").Trim(),
            Is.EqualTo($"{first}{Path.GetFullPath("orders.proof.json")} --out {folder.Path} --budget 90s --only orders@1:b"));
    }

    [Test]
    public async Task The_program_that_the_project_references_is_an_option_of_the_runner()
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The runner of this test is a shell script.");
        using var folder = new TemporaryFolder();
        var runner = ScriptIn(folder, $"echo \"$@\" > \"{folder.Path}/arguments\"\nexit 2");

        await Assert.ThatAsync(
            () => (Proof.Of<PlaceOrder>("orders.proof.json") with { Runner = runner, Folder = folder.Path }).RunAsync(), Throws.TypeOf<ProofException>());

        Assert.That(File.ReadAllText($"{folder.Path}/arguments").Trim(), Does.EndWith($" --start {typeof(PlaceOrder).Assembly.Location}"));
    }

    [Test]
    public void A_broken_promise_is_a_sentence_with_its_token()
    {
        var point = new ProvenPoint("orders@3:b", "COMMIT was executed", ProofVerdict.Broken, MessageClass.Lost, ["it is lost"], Because: null);

        Assert.That($"{point}", Is.EqualTo("orders@3:b: it is lost: COMMIT was executed"));
        Assert.That(new ProofResults([point], [], "proof.md").IsKept, Is.False);
        Assert.That(new ProofResults([], [], "proof.md").IsKept, Is.False, "nothing was shown");
    }

    [Test]
    public void A_file_that_does_not_fit_is_refused_in_the_words_of_the_runner() => Assert.That(
        () => (Proof.Of<PlaceOrder>("none.proof.json") with { Runner = RunnerProcess.ProvePath }).RunAsync(),
        Throws.TypeOf<ProofException>().With.Message.Contains("the proof file cannot be read"));

    [Test]
    public void A_mistake_in_the_file_is_told_with_the_name_of_the_file()
    {
        using var folder = new TemporaryFolder();
        var file = Path.Combine(folder.Path, "orders.proof.json");
        File.WriteAllText(file, "{ \"name\": \"orders\", \"name\": \"orders\" }");

        Assert.That(
            () => (Proof.Of<PlaceOrder>(file) with { Runner = RunnerProcess.ProvePath }).RunAsync(),
            Throws.TypeOf<ProofException>().With.Message.Contains($"{file}: the key 'name' is there twice."));
    }

    [TestCase("")]
    [TestCase("/nowhere/run.sh")]
    public void A_missing_runner_is_named(string runner) => Assert.That(
        () => (Proof.OfFile("orders.proof.json") with { Runner = runner }).RunAsync(),
        Throws.TypeOf<ProofException>().With.Message.Contains("KIT_RUNNER").And.Message.Contains("run.sh"));

    [Test]
    public void A_tool_that_is_not_restored_is_told_by_dotnet()
    {
        using var folder = new TemporaryFolder();
        Directory.CreateDirectory(folder.Below(".config"));
        File.WriteAllText(
            folder.Below(".config/dotnet-tools.json"),
            """{ "version": 1, "isRoot": true, "tools": { "transactionmodes.prove": { "version": "0.0.1-none", "commands": ["kit-prove"] } } }""");

        Assert.That(
            () => (Proof.OfFile(folder.Below("orders.proof.json")) with { Runner = null }).RunAsync(),
            Throws.TypeOf<ProofException>().With.Message.Contains("dotnet tool restore"));
    }

    [Test]
    public void A_damaged_manifest_is_named()
    {
        using var folder = new TemporaryFolder();
        File.WriteAllText(folder.Below("dotnet-tools.json"), "tools:");

        Assert.That(
            () => (Proof.OfFile(folder.Below("orders.proof.json")) with { Runner = null }).RunAsync(),
            Throws.TypeOf<ProofException>().With.Message.Contains("dotnet-tools.json is not a tool manifest"));
    }

    [Test]
    public void Classes_and_verdicts_are_those_of_the_runner()
    {
        // Each point of a proof has its window.
        Assert.That(Enum.GetNames<ProofVerdict>(), Is.EquivalentTo(Enum.GetNames<FaultVerdict>().Except([nameof(FaultVerdict.NoWindow)])));
        Assert.That(Enum.GetNames<MessageClass>(), Is.EquivalentTo(ProofFileReader.Classes.Values.Select(kind => $"{kind}")));
    }

    [Test]
    public void A_promise_is_kept_where_the_runner_says_so()
    {
        FaultVerdict[][] several = [[], .. Enum.GetValues<FaultVerdict>().SelectMany(verdict => new[] { [verdict], new[] { FaultVerdict.Kept, verdict } })];
        foreach (var verdicts in several.Where(verdicts => !verdicts.Contains(FaultVerdict.NoWindow)))
        {
            var document = new ProofDocument
            {
                Name = "orders",
                StartedUtc = DateTimeOffset.UnixEpoch,
                ProofFile = "{}",
                Promised = [DeliveryClass.Once],
                Results = [.. verdicts.Select(verdict => new ProofResult { Point = new PointFacts("orders@1:b", 1, PointWay.Killed, ""), Verdict = verdict })],
            };
            var points = verdicts.Select(verdict => new ProvenPoint("orders@1:b", "", Enum.Parse<ProofVerdict>($"{verdict}"), Class: null, [], Because: null));

            Assert.That(new ProofResults([.. points], [], "proof.md").IsKept, Is.EqualTo(document.IsKept), string.Join(", ", verdicts));
            Assert.That((document with { Untried = ["INSERT (orders)"] }).IsKept, Is.False);
            var untried = new ProofResults([.. points], [], "proof.md") { Untried = ["INSERT (orders)"] };
            Assert.That(untried.IsKept, Is.False);
            Assert.That(untried.NotKept.Select(point => $"{point}"), Has.One.StartsWith("INSERT (orders): it writes an effect, "));
        }
    }

    /// <summary>It would be green for any build of the service.</summary>
    [Test]
    public void A_folder_that_leaves_nothing_to_try_is_refused()
    {
        using var folder = new TemporaryFolder();
        File.WriteAllText(
            folder.Below("proof.json"), """{ "results": [ { "point": { "token": "orders@1:b", "moment": "COMMIT was executed" }, "verdict": "kept" } ] }""");

        Assert.That(
            () => (Proof.OfFile("orders.proof.json") with { Runner = "/nowhere/run.sh", Folder = folder.Path }).RunAsync(),
            Throws.TypeOf<ProofException>().With.Message.Contains("has a whole proof, so nothing would be tried."));
    }

    /// <summary>They are of another day, and perhaps of another build.</summary>
    [Test]
    public void Earlier_results_are_not_those_of_a_proof_that_failed()
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The runner of this test is a shell script.");
        using var folder = new TemporaryFolder();
        File.WriteAllText(
            folder.Below("proof.json"),
            """
            {
              "results": [ { "point": { "token": "orders@1:b", "moment": "COMMIT was executed" }, "verdict": "broken", "violations": ["it is lost"] } ],
              "notTried": ["orders@1:c"]
            }
            """);
        var proof = Proof.OfFile("orders.proof.json") with
        {
            Runner = ScriptIn(folder, "echo 'error: There is no RabbitMQ.' >&2\nexit 1"),
            Folder = folder.Path,
        };

        Assert.That(() => proof.RunAsync(), Throws.TypeOf<ProofException>().With.Message.Contains("There is no RabbitMQ."));
        Assert.That(
            async () => (await (proof with { Runner = ScriptIn(folder, "echo 'warning: slow' >&2\nexit 1") }).RunAsync()).NotKept.Single().Token,
            Is.EqualTo("orders@1:b"), "it was tried, and broken");
    }

    [Test]
    public void A_report_of_another_version_is_refused()
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The runner of this test is a shell script.");
        using var folder = new TemporaryFolder();
        var runner = ScriptIn(folder, "echo '{ \"results\": [ { \"verdict\": \"kept\" } ] }' > \"$3/proof.json\"");

        Assert.That(
            () => (Proof.OfFile("orders.proof.json") with { Runner = runner, Folder = folder.Path }).RunAsync(),
            Throws.TypeOf<ProofException>().With.Message.StartsWith("The report is of another version of the runner: "));
    }

    /// <summary>A proof file whose service takes its messages and writes their effects in one statement.</summary>
    private static string WorkerOnPsql() => JsonSerializer.Serialize(new
    {
        name = "orders",
        databases = new[] { "orders" },
        setup = new { orders = new[] { "CREATE TABLE inbox (id uuid); CREATE TABLE placed_order (id uuid)" } },
        start = new
        {
            command = new[]
            {
                "/bin/sh", "-c",
                "while :; do \"$PSQL\" \"$DATABASE\" -c 'WITH taken AS (DELETE FROM inbox RETURNING id) INSERT INTO placed_order SELECT id FROM taken'; "
                + "sleep 0.3; done",
            },
            environment = new { DATABASE = "{{postgresql:orders:uri}}", PSQL = Path.Combine(PostgreSqlBinaries.Folders().First(), "psql") },
        },
        send = new { sql = "INSERT INTO inbox VALUES ('{{id}}')", database = "orders" },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM inbox" } },
        promise = "exactly-once",
    });

    private static string ScriptIn(TemporaryFolder folder, string script, string name = "kit-prove")
    {
        var path = Path.Combine(folder.Path, name);
        File.WriteAllText(path, $"#!/bin/sh\n{script}\n");
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }

    private static async Task ProveAsync(Proof proof)
    {
        var results = await proof.RunAsync();

        Assert.That(results.NotKept, Is.Empty, results.Report);
        Assert.That(results.IsKept, Is.True);    // something was tried, too
    }
}
