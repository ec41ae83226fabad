using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>Passwords that a user writes into a proof file are shown nowhere.</summary>
public sealed class PasswordsInAProofFile
{
    private const string Text =
        """
        // The old password: hush-comment
        {
          "name": "orders",
          "databases": ["orders"],
          "setup": { "orders": ["CREATE ROLE app PASSWORD 'hush-role'", "CREATE TABLE job (id uuid)"] },
          "start": {
            "command": ["./orders", "--password", "hush-option", "--url=redis://:hush-redis@cache/1"],
            "environment": {
              "DATABASE": "{{postgresql:orders:uri}}",
              "PGPASSWORD": "{{postgresql:orders:password}}",
              "API_KEY": "hush \"quoted\" & more",
              "STORE": "Server=s;Password=hush with; User Id=orders",
              "MAILS": "https://mailer:hush%21escaped@mails.example/api?token=hush-token",
              "SESSION_SECRET": "orders",
              "SHORT_PASS": "abc"
            }
          },
          "send": { "database": "orders", "sql": "INSERT INTO job VALUES ('{{id}}')" },
          "effects": [ { "name": "row", "database": "orders", "sql": "SELECT id FROM job" } ],
          "idle": [ { "database": "orders", "sql": "SELECT 0" } ],
          "promise": "exactly-once"
        }
        """;

    private static readonly Secrets Secrets = Secrets.In(Text);

    [TestCase("the program said hush-option, and hush-role", "the program said ***, and ***")]
    [TestCase("login with hush \"quoted\" & more failed", "login with *** failed")]
    [TestCase("hush with", "***")]
    [TestCase("hush!escaped or hush%21escaped", "*** or ***")]
    [TestCase("hush-redis hush-token hush-comment", "*** *** ***")]
    public void That_a_program_prints_are_masked(string said, string shown) => Assert.That(Secrets.Mask(said), Is.EqualTo(shown));

    /// <summary>A service inherits the variables of the kit, also those that the file does not name.</summary>
    [TestCase("KIT_TEST_SMTP_PASSWORD", "sesame-shell", "login as bot/*** failed for sesame-shelly")]
    [TestCase("KIT_TEST_SMTP_PASSWORD", "quoted", "login as bot/quoted failed for sesame-shelly")]
    [TestCase("KIT_TEST_PWD", "/sesame-shell", "login as bot//sesame-shell failed for sesame-shelly")]
    [TestCase("KIT_TEST_MAILER", "sesame-shell", "login as bot/sesame-shell failed for sesame-shelly")]
    public void Of_the_shell_are_masked_too(string variable, string value, string shown)
    {
        Environment.SetEnvironmentVariable(variable, value);
        try
        {
            Assert.That(Secrets.In(Text).Mask($"login as bot/{value} failed for sesame-shelly"), Is.EqualTo(shown));
        }
        finally
        {
            Environment.SetEnvironmentVariable(variable, null);
        }
    }

    [TestCase("orders@7:b in database 'orders'")]
    [TestCase("abc is the beginning of the alphabet")]
    [TestCase("UPDATE account SET password = $1 WHERE id = ?")]
    [TestCase("{{postgresql:orders:password}} {{rabbitmq:password}}")]
    [TestCase("amqp://{{rabbitmq:user}}:{{rabbitmq:password}}@{{rabbitmq:host}}")]
    [TestCase("--only: orders@7:b is not of leased")]
    public void Leave_other_words_as_they_are(string text) => Assert.That(Secrets.Mask(text), Is.EqualTo(text));

    [TestCase("postgresql://app:a/b@c@db1/orders", "postgresql://app:***@db1/orders")]
    [TestCase("jdbc:postgresql://db1/orders?user=app&password=x&ssl=false", "jdbc:postgresql://db1/orders?user=app&password=***&ssl=false")]
    [TestCase("Host=db1;Password=Pa$$word;Database=orders", "Host=db1;Password=***;Database=orders")]
    [TestCase("SESSION_SECRET=orders", "SESSION_SECRET=***")]
    [TestCase("{ \"password\": \"x\" }", "{ \"password\": \"***\" }")]
    [TestCase("ALTER ROLE app PASSWORD 'it''s'", "ALTER ROLE app PASSWORD '***'")]
    [TestCase("public.account: INSERT: id[integer]:1 password[text]:'x'", "public.account: INSERT: id[integer]:1 password[text]:'***'")]
    [TestCase("worker --password x --verbose", "worker --password *** --verbose")]
    [TestCase("Authorization: Bearer abcdefgh", "Authorization: *** ***")]
    public void That_stand_as_such_are_masked_in_any_text(string text, string shown)
    {
        Assert.That(Secrets.Mask(text), Is.EqualTo(shown));
        Assert.That(Secrets.Mask(shown), Is.EqualTo(shown));
    }

    [Test]
    public void Are_not_in_a_document_which_is_otherwise_the_same()
    {
        var document = new ProofDocument
        {
            Name = "orders",
            StartedUtc = DateTimeOffset.UnixEpoch,
            ProofFile = Text,
            Promised = [DeliveryClass.Once],
            Servers = new Dictionary<string, string> { ["postgresql"] = "17.5" },
            Results =
            [
                new ProofResult
                {
                    Point = new PointFacts("orders@7:b", 7, PointWay.Killed, "COMMIT"),
                    Verdict = FaultVerdict.Broken,
                    Class = DeliveryClass.Lost,
                    Violations = ["the message is lost"],
                    Timeline = [new TimelineStep(TimelineKind.Output, "the application wrote: hush-role")],
                },
            ],
        };

        var masked = Secrets.Masked(document);

        Assert.That(masked.ProofFile, Does.Not.Contain("hush").And.Contain("\"SHORT_PASS\": \"***\"").And.Contain("{{postgresql:orders:password}}"));
        Assert.That(masked.Results[0].Timeline[0].Text, Is.EqualTo("the application wrote: ***"));
        Assert.That(
            (masked.Name, masked.Results[0].Point, masked.Results[0].Class, masked.Servers["postgresql"]),
            Is.EqualTo((document.Name, document.Results[0].Point, document.Results[0].Class, "17.5")));
    }

    [Test]
    public void Are_in_no_failure_nor_in_its_causes()
    {
        var failure = new KitException(
            "cannot start: hush-role", "Try hush-option.", new InvalidOperationException("server=s;password=x"))
        { IsUsage = true };

        var masked = Secrets.MaskedFailure(failure);

        Assert.That(masked, Is.TypeOf<KitException>().With.Message.EqualTo("cannot start: ***").And.Property("IsUsage").True);
        Assert.That(((KitException)masked!).Remedy, Is.EqualTo("Try ***."));
        Assert.That($"{masked}", Does.Not.Contain("hush").And.Contain("server=s;password=***"));
        Assert.That(Secrets.MaskedFailure(new KitException("cannot start", "Try again.")), Is.Null);
        Assert.That(Secrets.MaskedFailure(new OperationCanceledException("hush-role")), Is.Null);
    }

    [TestCase("\"PASSWORD\": 123456", "'start.environment.PASSWORD': expected a text, found another kind of value, which is not shown.")]
    [TestCase("\"DATABASE\": [\"postgresql://app:hush@db1/orders\"]", "expected a text, found [\"postgresql://app:***@db1/orders\"].")]
    [TestCase("\"DATABASE\": { \"password\": \"hush\" }", "expected a text, found { \"password\": \"***\" }.")]
    public async Task Are_in_no_error_about_the_file(string variable, string error)
    {
        using var folder = new TemporaryFolder();
        var path = folder.Below("orders.proof.json");
        await File.WriteAllTextAsync(
            path, Text.Replace("\"DATABASE\": \"{{postgresql:orders:uri}}\"", variable, StringComparison.Ordinal));

        foreach (var verb in new[] { "crash", "check", "drain" })
        {
            var result = await RunnerInProcess.ProveAsync(verb, path, "--verbose");

            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage), verb);
            Assert.That(result.Errors, Does.Contain(error).And.Not.Contain("hush").And.Not.Contain("123456"), verb);
        }
    }

    [Test]
    public async Task Are_in_no_error_about_the_arguments()
    {
        var result = await RunnerInProcess.ProveAsync("init", "a.proof.json", "DATABASE=postgresql://app:hush@db1/orders", "amqp://app:hush@mq1");

        Assert.That(result.Errors, Does.Contain("unknown argument").And.Contain("app:***@db1").And.Contain("app:***@mq1").And.Not.Contain("hush"));
    }
}
