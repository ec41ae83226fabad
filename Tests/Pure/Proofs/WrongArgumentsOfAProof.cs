using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

public sealed class WrongArgumentsOfAProof
{
    private const string OnOwnServers =
        "--postgresql: the kit stops requests and crashes services only on servers that it has started. 'drain' and 'load' measure on yours.";

    private const string Nowhere = "Host=127.0.0.1;Port=1;Username=u;Password=hush-staging";

    [TestCase("", "no command. Commands: init, check, crash, drain, load, report, doctor, install.")]
    [TestCase("chek", "unknown command 'chek'. Commands: init, check, crash, drain, load, report, doctor, install.")]
    [TestCase("crash", "Required argument 'file' missing for command: 'crash'.")]
    [TestCase("--budget 1s a.proof.json", "--budget: expected a time from 10s to 24h with its unit, such as 10s or 2min, found '1s'.")]
    [TestCase("a.proof.json --only orders", "--only: 'orders' is not a token. Expected name@point:way, as in orders@7:b; the ways are a, b, c, d, g.")]
    [TestCase("a.proof.json --budget 1s", "--budget: expected a time from 10s to 24h with its unit, such as 10s or 2min, found '1s'.")]
    [TestCase(
        "a.proof.json --only orders@7:f",
        "--only: in way f the server crashes, and 'prove' crashes no server; its ways are a, b, c, d, g.")]
    [TestCase("a.proof.json --junit a.proof.json", "--junit: expected a file that ends with .xml, found 'a.proof.json'.")]
    [TestCase("a.proof.json --points 3", "unknown option '--points'. Options: --start, --only, --budget, --junit, --out, ")]
    [TestCase("check", "Required argument 'file' missing for command: 'check'.")]
    [TestCase("check a.proof.json --budget 2min", "unknown option '--budget'. Options: --start, ")]
    [TestCase("doctor --folder", "unknown option '--folder'. ")]
    [TestCase("report", "Required argument 'folder' missing for command: 'report'.")]
    [TestCase("drain", "Required argument 'file' missing for command: 'drain'.")]
    [TestCase("drain a.proof.json --messages 10", "--messages: expected a whole number from 100 to 1000000, found '10'.")]
    [TestCase("drain a.proof.json --rounds 0", "--rounds: expected a whole number from 1 to 100, found '0'.")]
    [TestCase("drain a.proof.json --budget 2min", "unknown option '--budget'. Options: --start, ")]
    [TestCase("drain a.proof.json --against b --rounds 4", "--against: expected 5 rounds or more (--rounds); fewer give no verdict.")]
    [TestCase("drain a.proof.json --rtt 2", "--rtt: unknown name '2'. Names: direct, 0ms, 2ms, 5ms, 10ms.")]
    [TestCase("drain a.proof.json --rtt -1ms", "--rtt: unknown name '-1ms'. Names: direct, 0ms, 2ms, 5ms, 10ms.")]
    [TestCase("drain a.proof.json --against b --rtt 3ms", "--rtt: unknown name '3ms'. Names: direct, 0ms, 2ms, 5ms, 10ms.")]
    [TestCase("load a.proof.json --rate 50 --rtt -1ms", "--rtt: unknown name '-1ms'. Names: direct, 0ms, 2ms, 5ms, 10ms.")]
    [TestCase("crash a.proof.json --postgresql Host=db;Password=hush", OnOwnServers)]
    [TestCase("a.proof.json --postgresql Host=db;Password=hush", OnOwnServers)]
    [TestCase("check a.proof.json --postgresql Host=db;Password=hush", OnOwnServers)]
    [TestCase("load --rate 50", "Required argument 'file' missing for command: 'load'.")]
    [TestCase("load a.proof.json", "expected --rate, such as --rate 500/s, or --users, such as --users 25, or --find-rate.")]
    [TestCase("load a.proof.json --rate fast", "--rate: expected messages a second from 1 to 100000, such as 500/s, found 'fast'.")]
    [TestCase("load a.proof.json --rate 50 --users 4", "--users: they wait, so they have no rate; leave out --rate.")]
    [TestCase("load a.proof.json --users 4 --find-rate", "--users: they wait, so they have no rate; leave out --find-rate.")]
    [TestCase("load a.proof.json --users 0", "--users: expected whole numbers from 1 to 10000, separated by commas, found '0'.")]
    [TestCase("load a.proof.json --rate 50 --p99 1s", "--p99: applies only with --find-rate.")]
    [TestCase("load a.proof.json --rate 50 --at-percent 50", "--at-percent: applies only with --find-rate.")]
    [TestCase("load a.proof.json --rate 50 --think 1s", "--think: applies only with --users.")]
    [TestCase("load a.proof.json --rate 50 --timeout 10", "--timeout: expected a time from 1ms to 1h with its unit, such as 10s or 2min, found '10'.")]
    [TestCase("load a.proof.json --rate 50 --senders 51", "--senders: expected a whole number from 1 to 50, found '51'.")]
    [TestCase("load a.proof.json --rate 50 --rounds 3", "unknown option '--rounds'. Options: --start, --rate, --users, ")]
    [TestCase("init orders.proof.json --promise always", "--promise: unknown value 'always'. Values: exactly-once, at-least-once, at-most-once.")]
    public async Task Are_named_with_what_would_be_right(string arguments, string error)
    {
        var result = await RunnerInProcess.ProveAsync(arguments.Split(' ', StringSplitOptions.RemoveEmptyEntries));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
            Assert.That(result.Errors, Does.StartWith($"error: {error}").And.Contain("--help"));
            Assert.That(result.Output, Is.Empty);
        }
    }

    [TestCase("--postgresql", "Host=db;Username=u;Password=hush;x", "The PostgreSQL connection string cannot be read.")]
    [TestCase("--postgresql", "Host=db;Password=hush", "--postgresql: the connection string has no user or no password, and your service is given both.")]
    [TestCase("--postgresql", "Host=db;Username=u", "--postgresql: the connection string has no user or no password, and your service is given both.")]
    [TestCase("--postgresql", "Host=a,b;Username=u;Password=hush", "--postgresql: expected one host that is reached over TCP.")]
    [TestCase("--postgresql", "Host=db;Username=u;Password=hush;SSL Mode=Require", "--postgresql: an encrypted connection is asked for, ")]
    [TestCase("--postgresql", "Host=db;Username=u;Password=hush;SSL Mode=VerifyFull", "--postgresql: an encrypted connection is asked for, ")]
    [TestCase("--rabbitmq", "amqps://u:hush@broker", "--rabbitmq: an encrypted connection is asked for, ")]
    [TestCase("--postgresql", "Host=db;Username=u;Password=hush", "--postgresql: orders.proof.json needs no database.")]
    [TestCase("--rabbitmq-management", "http://broker:15672", "--rabbitmq-management: it is that of a broker, and none is named that the service needs.")]
    public async Task A_server_that_cannot_be_named_is_refused(string option, string server, string error)
    {
        using var folder = new TemporaryFolder();
        await File.WriteAllTextAsync(folder.Below("orders.proof.json"), FolderOfAProof.Text);

        foreach (var command in new string[][] { ["drain"], ["load", "--rate", "50"] })
        {
            var result = await RunnerInProcess.ProveAsync([.. command, folder.Below("orders.proof.json"), option, server]);

            Assert.That(result.ExitCode, Is.AnyOf(ExitCode.Usage, ExitCode.Failure));
            Assert.That(result.Errors.Replace(folder.Path + Path.DirectorySeparatorChar, "", StringComparison.Ordinal), Does.StartWith($"error: {error}"));
            Assert.That(result.Output + result.Errors, Does.Not.Contain("hush"));
        }
    }

    [TestCase("{{rabbitmq}}", true)]
    [TestCase("--broker={{rabbitmq:password}}", true)]
    [TestCase("{{rabbitmq:host}}", false)]
    public async Task A_password_of_the_users_server_in_a_command_is_refused(string argument, bool isRefused)
    {
        using var folder = new TemporaryFolder();
        var text = FolderOfAProof.Text.Replace("\"command\": [\"orders\"]", $"\"command\": [\"/no/such/program\", \"{argument}\"]", StringComparison.Ordinal);
        await File.WriteAllTextAsync(folder.Below("orders.proof.json"), text);

        var result = await RunnerInProcess.ProveAsync("drain", folder.Below("orders.proof.json"), "--rabbitmq", "amqp://u:hush@127.0.0.1:1");

        Assert.That(result.ExitCode, Is.EqualTo(isRefused ? ExitCode.Usage : ExitCode.Failure), result.Errors);
        Assert.That(result.Errors, isRefused ? Does.Contain($"'{argument}' is part of a command") : Does.Not.Contain("is part of a command"));
    }

    [TestCase(true, "(KIT_POSTGRESQL)")]
    [TestCase(false, "(--postgresql)")]
    public async Task A_setup_that_changes_the_users_server_is_refused(bool isInTheEnvironment, string named)
    {
        using var folder = new TemporaryFolder();
        await File.WriteAllTextAsync(folder.Below("orders.proof.json"), WithADatabase("CREATE ROLE app PASSWORD 'hush'"));

        var result = isInTheEnvironment
            ? await WithServerInTheEnvironmentAsync(Nowhere, () => RunnerInProcess.ProveAsync("drain", folder.Below("orders.proof.json")))
            : await RunnerInProcess.ProveAsync("drain", folder.Below("orders.proof.json"), "--postgresql", Nowhere);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage), result.Errors);
        Assert.That(
            result.Errors,
            Does.Contain($"a statement of 'setup' changes more than the kit's databases, and the server is yours {named}: CREATE ROLE app PASSWORD '***'"));
        Assert.That(result.Errors, Does.Not.Contain("hush"));
    }

    /// <summary>It is meant for another command.</summary>
    [Test]
    public async Task A_server_in_the_environment_that_is_not_needed_is_not_looked_at()
    {
        using var folder = new TemporaryFolder();
        await File.WriteAllTextAsync(folder.Below("orders.proof.json"), FolderOfAProof.Text);

        var result = await WithServerInTheEnvironmentAsync(
            $"{Nowhere};SSL Mode=Require",
            () => RunnerInProcess.ProveAsync(
                "drain", folder.Below("orders.proof.json"), "--rabbitmq", "amqp://u:hush@127.0.0.1:1", "--out", folder.Below("out")));

        Assert.That(result.Errors, Does.StartWith("error: The RabbitMQ broker is out of reach: "));
    }

    [Test]
    public async Task A_server_that_only_the_other_build_needs_is_taken()
    {
        using var folder = new TemporaryFolder();
        var (after, before) = (folder.Below("orders.proof.json"), folder.Below("before.proof.json"));
        await File.WriteAllTextAsync(after, FolderOfAProof.Text);
        await File.WriteAllTextAsync(before, WithADatabase("SELECT 1"));

        var result = await RunnerInProcess.ProveAsync(
            "drain", after, "--against", before, "--postgresql", Nowhere, "--rabbitmq", "amqp://u:hush@127.0.0.1:1", "--out", folder.Below("out"));

        Assert.That(result.Errors, Does.StartWith("error: The RabbitMQ broker is out of reach: "));
    }

    /// <summary>A build server would show the results of the run before.</summary>
    [Test]
    public async Task Leave_no_earlier_results_for_a_build_server()
    {
        using var folder = new TemporaryFolder();
        var (file, junit) = (folder.Below("orders.proof.json"), folder.Below("proof.xml"));
        await File.WriteAllTextAsync(file, FolderOfAProof.Text);
        await File.WriteAllTextAsync(junit, "<testsuite />");

        var result = await RunnerInProcess.ProveAsync(file, "--out", folder.Path, "--junit", junit);

        Assert.That(result.Errors, Does.Contain(" has other files, and no proof."));
        Assert.That(junit, Does.Not.Exist);
    }

    /// <summary>The file was to be written over with the results, and was deleted before that.</summary>
    [Test]
    public async Task Delete_no_file_of_the_user()
    {
        using var folder = new TemporaryFolder();
        var file = folder.Below("orders.proof.json");
        await File.WriteAllTextAsync(file, FolderOfAProof.Text);

        await RunnerInProcess.ProveAsync(file, "--out", folder.Path, "--junit", file);

        Assert.That(file, Does.Exist);
    }

    [Test]
    public async Task Replace_no_other_comparison()
    {
        using var folder = new TemporaryFolder();
        var (file, before, report) = (folder.Below("orders.proof.json"), folder.Below("before.proof.json"), folder.Below("compare.md"));
        await File.WriteAllTextAsync(file, FolderOfAProof.Text);
        await File.WriteAllTextAsync(before, FolderOfAProof.Text + "\n");
        await File.WriteAllTextAsync(report, "mine");

        var result = await RunnerInProcess.ProveAsync("drain", file, "--against", before, "--out", folder.Path);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.Contain($"{report} exists, and is no comparison of two builds."));
        Assert.That(await File.ReadAllTextAsync(report), Is.EqualTo("mine"));
    }

    [Test]
    public async Task A_folder_without_results_is_named()
    {
        var result = await RunnerInProcess.ProveAsync("report", "none");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.StartWith("error: none has no proof, drain or load."));
    }

    [TestCase("none.proof.json")]
    [TestCase("crash none.proof.json")]
    [TestCase("check none.proof.json")]
    [TestCase("drain none.proof.json")]
    [TestCase("load none.proof.json --rate 50")]
    public async Task A_file_that_is_not_there_is_named(string arguments)
    {
        var result = await RunnerInProcess.ProveAsync(arguments.Split(' '));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.StartWith("error: none.proof.json: the proof file cannot be read: "));
    }

    private static string WithADatabase(string setup) => FolderOfAProof.Text.Replace(
        "\"queues\"", $"\"databases\": [\"orders\"], \"setup\": {{ \"orders\": \"{setup}\" }}, \"queues\"", StringComparison.Ordinal);

    private static async Task<RunnerResult> WithServerInTheEnvironmentAsync(string server, Func<Task<RunnerResult>> run)
    {
        Environment.SetEnvironmentVariable("KIT_POSTGRESQL", server);
        try
        {
            return await run();
        }
        finally
        {
            Environment.SetEnvironmentVariable("KIT_POSTGRESQL", null);
        }
    }
}
