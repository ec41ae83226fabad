using System.Text.Json;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>A service prints the passwords that its file gives it, and loses messages. Nothing that the kit shows or writes has them.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "The worker is a shell script.")]
public sealed class PasswordsOfAService
{
    /// <summary>A crash between its two transactions loses the message.</summary>
    private const string Worker =
        """
        while :; do
          id=$(psql "$DATABASE" -qAtc "SELECT id FROM job LIMIT 1")
          [ -z "$id" ] || {
            echo "$id: mailed by $MAILER with $API_TOKEN and $0 $1"
            psql "$DATABASE" -qAtc "DELETE FROM job WHERE id = '$id'"
            psql "$DATABASE" -qAtc "INSERT INTO invoice VALUES ('$id', '$API_TOKEN')"
          }
          sleep 0.2
        done
        """;

    private TemporaryFolder folder = null!;

    private string Path => folder.Below($"talking{ProofFile.Suffix}");

    [SetUp]
    public void Prepare()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        if (ExternalProgram.OnSearchPath("psql") is null)
            Assert.Ignore("There is no psql on the search path.");
        folder = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => folder?.Dispose();

    [Test]
    [Exhaustive]
    public async Task Are_in_no_report_of_a_broken_promise()
    {
        Write(Worker);

        var result = await RunnerProcess.ProveAsync(Path, "--budget", "30s", "--junit", folder.Below("proof.xml"), "--out", folder.Below("proof"));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output + result.Errors);
        var proof = new ProofFolder(folder.Below("proof")).LoadDocument();
        Assert.That(
            proof.Results.SelectMany(one => one.Timeline).Where(step => step.Kind is TimelineKind.Output).Select(step => step.Text),
            Is.Not.Empty.And.All.EndsWith(": mailed by smtp://talking:***@mails.example with *** and --secret ***"));
        Assert.That(proof.Results.SelectMany(one => one.Timeline).Select(step => step.Text), Has.Some.StartsWith("committed together in orders: public."));
        Assert.That(
            result.Output + result.Errors + string.Concat(Directory.EnumerateFiles(folder.Path, "*", SearchOption.AllDirectories)
                .Where(file => file != Path).Select(File.ReadAllText)),
            Does.Contain("***").And.Not.Contain("hush"));

        // The same file is the same proof.
        var again = await RunnerProcess.ProveAsync(Path, "--out", folder.Below("proof"), "--only", "talking@1:a");
        Assert.That(again.ExitCode, Is.Not.EqualTo(ExitCode.Usage), again.Errors);
    }

    [Test]
    public async Task Are_in_no_error()
    {
        Write("echo \"cannot log in at $MAILER with $API_TOKEN\" >&2; exit 3");
        var ended = await RunnerProcess.ProveAsync("check", Path, "--verbose");
        Write(Worker, "CREATE ROLE app PASSWORD 'hush-role' BOOM");
        var refused = await RunnerProcess.ProveAsync("check", Path, "--verbose");

        Assert.That((ended.ExitCode, refused.ExitCode), Is.EqualTo((ExitCode.Usage, ExitCode.Usage)), ended.Output + refused.Output);
        Assert.That(ended.Errors, Does.Contain("cannot log in at smtp://talking:***@mails.example with ***").And.Not.Contain("hush"));
        Assert.That(refused.Errors, Does.Contain("The statement: CREATE ROLE app PASSWORD '***' BOOM").And.Not.Contain("hush"));
        Assert.That(ended.Output + refused.Output, Does.Contain("runs: sh -c ").And.Not.Contain("hush"));
    }

    private void Write(string worker, string role = "SELECT 1") => File.WriteAllText(Path, JsonSerializer.Serialize(new
    {
        name = "talking",
        databases = new[] { "orders" },
        setup = new { orders = new[] { role, "CREATE TABLE job (id uuid)", "CREATE TABLE invoice (job_id uuid, note text)" } },
        start = new
        {
            command = new[] { "sh", "-c", worker, "--secret", "hush-option" },
            environment = new { DATABASE = "{{postgresql:orders:uri}}", MAILER = "smtp://talking:hush-mail@mails.example", API_TOKEN = "hush-token-1" },
        },
        send = new { database = "orders", sql = "INSERT INTO job VALUES ('{{id}}')" },
        effects = new[] { new { name = "invoice", database = "orders", sql = "SELECT job_id FROM invoice" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
        promise = "exactly-once",
        commits = true,
    }));
}
