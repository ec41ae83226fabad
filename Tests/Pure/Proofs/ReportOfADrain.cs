using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Proofs;

namespace Kit.Tests.Proofs;

/// <summary>The speed of a service in its folder and its report.</summary>
[Parallelizable]
public sealed class ReportOfADrain
{
    private static readonly IReadOnlyList<DrainRound> Rounds =
    [
        Round(1, 10), Round(2, 12) with { Noise = NoiseOf(0.2) }, Round(2, 11) with { Attempt = 2 },
        DrainRound.Blank(3, 1) with
        {
            Outcome = RoundOutcome.Invalid(["messages lost: 2 (a, b)"]),
            Accounts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 108, [DeliveryClass.Lost] = 2 },
        },
    ];

    [Test]
    public void Tells_the_rate_its_interval_and_what_does_not_count()
    {
        var output = new StringWriter();

        new DrainTables(Document).WriteMarkdown(output);

        Approval.Verify("drain.md", $"{output}");
    }

    [Test]
    public void Brackets_every_figure_of_a_round_that_does_not_count()
    {
        var output = new StringWriter();

        new DrainTables(Document).WriteMarkdown(output);

        Assert.That(
            $"{output}".Split('\n').Single(line => line.StartsWith("| 2 noisy |", StringComparison.Ordinal)), Does.Match(@"noisy \|( (\(.+\)|–) \|)+$"));
    }

    /// <summary>Whoever adds rounds until a verdict suits them finds one.</summary>
    [Test]
    public void Says_that_rounds_were_added()
    {
        var added = Document.With(rounds: 5).With(rounds: 4).With(rounds: 8);
        var (output, compared) = (new StringWriter(), new StringWriter());

        new DrainTables(added).WriteMarkdown(output);
        new DrainComparison(added, added).WriteMarkdown(compared);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((added.Planned, added.PlannedBefore), Is.EqualTo((8, new[] { 3, 5 })));
            Assert.That($"{output}", Does.Contain("- Rounds were added after some had been made: first 3, then 5, then 8 were asked for."));
            Assert.That($"{compared}".Split("Rounds were added"), Has.Length.EqualTo(2));
            Assert.That((Document with { Rounds = [] }).With(rounds: 5).Prolonged, Is.Null, "none had been made");
        }
    }

    [Test]
    public void Names_the_distance_that_the_proxy_added()
    {
        var (report, terminal) = (new StringWriter(), new StringWriter());
        var tables = new DrainTables(Document with { RoundTrip = "2ms", Rounds = [Rounds[0] with { Network = Document.Traced!.Network }] });

        tables.WriteMarkdown(report);
        tables.WriteTerminal(terminal, 300);

        using (Assert.EnterMultipleScope())
        {
            Assert.That($"{report}", Does.Contain("orders handles 100 messages a second with 2ms added to each round trip: 1 of 3 rounds "));
            Assert.That($"{report}", Does.Contain("## Rounds with 2ms added to each round trip").And.Contain("| Ping ms |").And.Contain(" 0.0900 |"));
            Assert.That($"{report}", Does.Contain("and adds 2ms to each round trip.").And.Not.Contain("the servers' own addresses"));
            Assert.That($"{terminal}", Does.Contain("orders with 2ms added to each round trip").And.Contain("Ping ms"));
        }
    }

    [Test]
    public void Says_that_a_ping_does_not_reach_a_server_of_the_user()
    {
        var output = new StringWriter();

        new DrainTables(Document with { Named = new Dictionary<string, string> { ["postgresql"] = "app at far:5432/postgres" } }).WriteMarkdown(output);

        Assert.That($"{output}", Does.Contain("A ping without the way from there to your servers takes 0.0900 ms."));
    }

    [TestCase(
        RoundOutcomeOfTrace.Invalid, "Statements, round trips and waits are not known: the drain through the kit's proxy is INVALID: messages lost: 2.")]
    [TestCase(
        RoundOutcomeOfTrace.None, "Statements, round trips and waits are not known: no drain through the kit's proxy was made.")]
    public void Says_why_it_does_not_know_where_the_time_goes(RoundOutcomeOfTrace trace, string why)
    {
        var output = new StringWriter();

        new DrainTables(Document with
        {
            Traced = trace is RoundOutcomeOfTrace.None ? null : Document.Traced! with { Outcome = RoundOutcome.Invalid(["messages lost: 2"]) },
        }).WriteTerminal(output, 200);

        Assert.That($"{output}", Does.Contain(why).And.Not.Contain("ms per message"));
    }

    [Test]
    public void Warns_on_the_terminal_of_a_disk_that_makes_nothing_durable()
    {
        var output = new StringWriter();

        new DrainTables(Document with { Disk = Document.Disk! with { IsInMemory = true } }).WriteTerminal(output, 200);

        Assert.That($"{output}", Does.Contain("orders handles 95.5 messages a second").And.Contain("Not durable: the servers kept their files in memory"));
    }

    [Test]
    public void Is_continued_only_on_the_machine_the_servers_and_the_disk_that_began_it()
    {
        var begun = Document with { Rounds = [] };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(begun.DifferencesFrom(begun with { Host = begun.Host with { MemoryBytes = begun.Host.MemoryBytes + 1 } }), Is.Empty);
            Assert.That((begun with { Servers = new Dictionary<string, string>(), Disk = null }).DifferencesFrom(begun), Is.Empty, "nothing was started yet");
            Assert.That(
                begun.DifferencesFrom(begun with
                {
                    Host = begun.Host with { Cores = 8, MemoryBytes = 64L << 30 },
                    Servers = new Dictionary<string, string> { ["postgresql"] = "18.1" },
                    Disk = begun.Disk! with { Folder = "/tmp", FileSystem = "tmpfs" },
                }),
                Is.EqualTo(
                [
                    "machine, cores: 2 then, 8 now", $"machine, memory: {begun.Host.MemoryBytes >> 30} GiB then, 64 GiB now",
                    "server, postgresql: 17.5 then, 18.1 now", "disk, file system: ext4 then, tmpfs now",
                    "disk, folder: /var/tmp then, /tmp now",
                ]));
        }
    }

    [Test]
    public void Is_continued_only_with_moments_of_the_same_source()
    {
        var stamped = Document with { Lacks = ["The server's log cannot be decoded."] };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(Document.DifferencesFrom(stamped), Is.EqualTo(["the server's log: decoded then, not decoded now"]));
            Assert.That(stamped.DifferencesFrom(Document), Is.EqualTo(["the server's log: not decoded then, decoded now"]));
            Assert.That(stamped.DifferencesFrom(stamped), Is.Empty);
            Assert.That((stamped with { Rounds = [] }).DifferencesFrom(Document), Is.Empty, "no round was made yet");
        }
    }

    [Test]
    public void Is_stored_with_every_moment()
    {
        using var temporary = new TemporaryFolder();
        var folder = new DrainFolder(temporary.Path);

        folder.Save(Document);

        var stored = folder.LoadDocument();
        Assert.That(stored.Rounds.Select(round => round.OffsetsMilliseconds), Is.EqualTo(Rounds.Select(round => round.OffsetsMilliseconds)));
        Assert.That(stored.Rate, Is.EqualTo(Document.Rate));
        Assert.That(stored.Rounds[^1].Accounts, Is.EquivalentTo(Rounds[^1].Accounts));
        Assert.That((stored.IsWhole, (stored with { Planned = 2, Rounds = [.. Rounds.SkipLast(1)] }).IsWhole), Is.EqualTo((false, true)));
    }

    private static DrainDocument Document => new()
    {
        Name = "orders",
        StartedUtc = new DateTimeOffset(2026, 11, 1, 12, 0, 0, TimeSpan.Zero),
        Fingerprint = "01",
        ProofFile = "{}",
        Messages = 100,
        WarmUp = 10,
        Planned = 3,
        Host = new HostFacts(2, "a processor", 4L << 30, "a system", ".NET"),
        Servers = new Dictionary<string, string> { ["postgresql"] = "17.5" },
        Disk = new DiskFacts("/var/tmp", "ext4", IsInMemory: false, new FlushTime(0.5, 2, 1_000)),
        Rounds = Rounds,
        Traced = Round(4, 20) with
        {
            Network = new NetworkUse(new MeasuredRoundTrip(0.09, 0.2, 50), Reading.Of(3.1), Reading.Of(3), SqlConnections: 1),
            Sessions = [new SampledState("IO: WalSync", 0.6), new SampledState("executes", 0.2)],
        },
        Handling = new SeenHandling(
            [new SeenCommit("orders", ["INSERT invoice"]), new SeenCommit("orders", ["DELETE job"])],
            new SeenMode("at-least-once", "dtc-off", "two commits: the rows in one, and the message's row changes last"))
        {
            Advice = ["Promised is at-least-once: it needs no other mode."],
        },
    };

    /// <summary>The end of the drain through the kit's proxy.</summary>
    public enum RoundOutcomeOfTrace
    {
        None,
        Invalid,
    }

    private static DrainRound Round(int number, int milliseconds) => DrainRound.Blank(number, 1) with
    {
        Outcome = RoundOutcome.Valid,
        Noise = NoiseOf(0.01),
        Accounts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 110 },
        StartSeconds = 0.8,
        OffsetsMilliseconds = [.. Enumerable.Range(1, 99).Select(message => (double)message * milliseconds)],
        Costs = new MessageCosts(Reading.Of(2), Reading.Of(1.5), Reading.Of(700), Reading.Of(0), Reading.Missing("not read"), Reading.Of(0.4)),
    };

    private static Noise NoiseOf(double share) => new(Reading.Of(share), Noise.DefaultLimit, "another");
}
