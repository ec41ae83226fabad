using Kit.Guarantees;
using Kit.Prove.Drains;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Proofs;

namespace Kit.Tests.Proofs;

/// <summary>Two builds of a service are compared by rounds that were made in turns.</summary>
[Parallelizable]
public sealed class TwoBuildsOfAService
{
    [TestCase(10, 10, false, "no clear difference")]
    [TestCase(10, 20, true, "slower")]
    [TestCase(20, 10, false, "faster")]
    public void Have_a_ratio_with_a_verdict(int before, int after, bool isRegression, string verdict)
    {
        var compared = new DrainComparison(DocumentOf(before, rounds: 5), DocumentOf(after, rounds: 5));

        Assert.That(compared.Lines.First(), Does.StartWith("After handles ").And.Contain(verdict).And.EndWith("by 5 pairs of rounds."));
        Assert.That((compared.IsRegression, compared.IsSound), Is.EqualTo((isRegression, true)));
    }

    [Test]
    public void Have_no_verdict_after_a_few_rounds()
    {
        var compared = new DrainComparison(DocumentOf(10, rounds: 2), DocumentOf(20, rounds: 2));

        Assert.That((compared.IsRegression, compared.IsSound), Is.EqualTo((false, false)));
    }

    [Test]
    public void Have_nothing_to_compare_if_a_side_has_no_round()
    {
        var compared = new DrainComparison(DocumentOf(10, rounds: 5), DocumentOf(10, rounds: 0));

        Assert.That(compared.Lines.First(), Is.EqualTo("Nothing is compared: no round counts in both."));
        Assert.That((compared.IsRegression, compared.IsSound), Is.EqualTo((false, false)));
    }

    [TestCase("exactly-once", "at-least-once", "After promises less than before.")]
    [TestCase("at-least-once", "exactly-once", null)]
    [TestCase("at-least-once", "at-most-once", "After promises less than before.")]
    [TestCase("at-most-once", "at-least-once", "After promises something else than before.")]
    [TestCase("at-most-once", "at-most-once", null)]
    [TestCase("exactly-once", null, null)]
    public void Differ_in_their_promise_if_both_are_known(string before, string? after, string? line)
    {
        var compared = new DrainComparison(DocumentOf(10, 5) with { Handling = Seen(before) }, DocumentOf(10, 5) with { Handling = Seen(after) });

        Assert.That(compared.IsRegression, Is.EqualTo(line is not null && line.Contains("less", StringComparison.Ordinal)));
        Assert.That(compared.Lines.Skip(3), Is.EqualTo(line is null ? Array.Empty<string>() : [line]));

        static SeenHandling Seen(string? promise) => new([], new SeenMode(promise, Mode: null, "seen"));
    }

    /// <summary>The first round of before fails, so after is never started.</summary>
    [Test]
    public void Have_no_promise_of_a_side_that_was_not_measured()
    {
        var compared = new DrainComparison(
            DocumentOf(10, rounds: 0) with { Handling = new SeenHandling([], new SeenMode("at-least-once", Mode: null, "seen")) }, after: null);
        using var report = new StringWriter();
        compared.WriteMarkdown(report);

        Assert.That(compared.Lines.Last(), Is.EqualTo("After: it was not measured."));
        Assert.That((compared.IsRegression, compared.IsSound), Is.EqualTo((false, false)));
        Assert.That($"{report}", Does.StartWith("# orders: ").And.Contain("\nafter: it was not measured.").And.Not.Contain("after/drain.md"));
    }

    [TestCase("\"name\": \"orders\"", "\"name\": \"other\"", "its name is other")]
    [TestCase("\"name\": \"row\"", "\"name\": \"line\"", "its effects are others")]
    [TestCase("", "", "it is the same build: neither the file nor what its command names differs")]
    public void Are_refused_if_they_cannot_be_compared(string text, string other, string why)
    {
        using var folder = new TemporaryFolder();
        var (after, before) = (folder.Below("orders.proof.json"), folder.Below("before"));
        Directory.CreateDirectory(before);
        File.WriteAllText(after, Text);
        File.WriteAllText(Path.Combine(before, "orders.proof.json"), text.Length == 0 ? Text : Text.Replace(text, other, StringComparison.Ordinal));

        var refused = Assert.Throws<KitException>(() => TwoBuilds.Read(ProofFileReader.Parse(after, Text), before));

        Assert.That(refused!.Message, Does.EndWith($" cannot be compared with {after}: {why}."));
        Assert.That(refused.IsUsage, Is.True);
    }

    [Test]
    public void Are_refused_if_the_log_was_decoded_for_one_alone()
    {
        var decoded = DocumentOf(10, rounds: 5);
        var stamped = decoded with { Lacks = ["The server's log cannot be decoded."] };

        var refused = Assert.Throws<KitException>(() => TwoBuilds.RequireOneLog(decoded, stamped));

        Assert.That(
            refused!.Message,
            Is.EqualTo("The two builds cannot be compared: the server's log was decoded for before alone. The server's log cannot be decoded."));
        foreach (var (then, now) in new[] { (stamped, stamped), (decoded, decoded), (stamped, null) })
            Assert.That(() => TwoBuilds.RequireOneLog(then, now), Throws.Nothing);
    }

    /// <summary>What one of them says can have a password that only the file of the other names.</summary>
    [Test]
    public void Show_no_password_of_either()
    {
        using var output = new StringWriter();
        var (before, after) = (FileWith("hush-before"), FileWith("hush-after"));

        var compared = TwoBuilds.Compare(before, after, Saying("hush-after, hush-before"), Saying("hush-before, hush-after"));
        compared.WriteMarkdown(output);

        Assert.That(output.ToString(), Does.Not.Contain("hush").And.Contain("- Before: "));
        Assert.That(string.Join('\n', compared.Lines), Does.Not.Contain("hush").And.Contain("says ***, ***"));

        static ProofFile FileWith(string password) => ProofFileReader.Parse(
            "orders.proof.json", Text.Replace("\"DATABASE\"", $"\"API_KEY\": \"{password}\", \"DATABASE\"", StringComparison.Ordinal));

        static DrainDocument Saying(string text) => DocumentOf(10, rounds: 5) with { Handling = new([], SeenMode.Unknown($"it says {text}")) };
    }

    private const string Text =
        """
        {
          "name": "orders",
          "databases": ["orders"],
          "start": { "command": ["./orders"], "environment": { "DATABASE": "{{postgresql:orders}}" } },
          "send": { "database": "orders", "sql": "INSERT INTO job VALUES ('{{id}}')" },
          "effects": [ { "name": "row", "database": "orders", "sql": "SELECT id FROM placed_order" } ],
          "idle": [ { "database": "orders", "sql": "SELECT count(*) FROM job" } ],
          "promise": "exactly-once"
        }
        """;

    private static DrainDocument DocumentOf(int milliseconds, int rounds) => new()
    {
        Name = "orders",
        StartedUtc = new DateTimeOffset(2026, 11, 1, 12, 0, 0, TimeSpan.Zero),
        Fingerprint = "01",
        ProofFile = "{}",
        Messages = 100,
        WarmUp = 10,
        Planned = rounds,
        Host = new HostFacts(2, "a processor", 4L << 30, "a system", ".NET"),
        Rounds =
        [
            .. from number in Enumerable.Range(1, rounds)
               select DrainRound.Blank(number, 1) with
               {
                   Outcome = RoundOutcome.Valid,
                   Noise = new Noise(Reading.Of(0.01), Noise.DefaultLimit, "another"),
                   Accounts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 110 },
                   // No two rounds are alike.
                   OffsetsMilliseconds = [.. Enumerable.Range(1, 99).Select(message => message * (milliseconds + (number * 0.01)))],
               },
        ],
    };
}
