using System.Text;
using System.Text.Json;
using Kit.Prove.Files;
using Kit.Prove.Handlings;
using Kit.Prove.Service;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Results.Published;
using Kit.Runner.Wire;

namespace Kit.Tests.Proofs;

/// <summary>The mode of a service follows from the order of its commits, or it is not known.</summary>
[Parallelizable]
public sealed class ModeThatWasSeen
{
    private static readonly Guid Message = Guid.CreateVersion7();
    private static readonly DateTimeOffset Start = new(2026, 11, 1, 12, 0, 0, TimeSpan.Zero);

    private static readonly string Row = $"public.placed_order: INSERT: id[uuid]:'{Message}'";
    private static readonly string Job = $"public.job: INSERT: id[uuid]:'{Message}'";
    private const string Taken = "public.job: DELETE: (no-tuple-data)";
    private const string Marked = "public.job: UPDATE: locked[boolean]:true";
    private static readonly string Sent = $"public.shipment: INSERT: id[uuid]:'{Message}'";
    private static readonly string Seen = $"public.handled_message: INSERT: id[uuid]:'{Message}'";

    [Test]
    public void One_commit_is_exactly_once() =>
        Assert.That(OfTable([Taken, Row]), Is.EqualTo(new SeenMode("exactly-once", "shared", "one commit has the receive and every effect")));

    /// <summary>A key that is there already refuses it.</summary>
    [Test]
    public void Two_commits_with_the_receive_last_are_at_least_once_if_a_message_can_come_again() => Assert.That(
        OfTable([Row], [Taken]),
        Is.EqualTo(new SeenMode(
            "at-least-once", "dtc-off",
            "the rows in one commit, and the message's row changes last. That holds if a message that comes again is neither skipped nor refused because of " +
            "its effects that are there: an undisturbed handling does not show it")));

    [Test]
    public void A_receive_before_the_work_is_at_most_once() => Assert.That(
        OfTable([Taken], [Row]),
        Is.EqualTo(new SeenMode("at-most-once", "transactions-off", "the message's row is deleted first, before the work commits")));

    [Test]
    public void A_receive_before_several_effects_tells_nothing()
    {
        const string HalfDone = ", and a kill between its effects leaves it half done, which no named promise allows";

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                Of(File(hasTwoRows: true), [], [Taken], [Row], [Sent]).Because, Does.StartWith("the message's row is deleted first").And.EndWith(HalfDone));
            Assert.That(Of(File(hasTwoRows: true), [], [Taken], [Row, Sent]).Promise, Is.EqualTo("at-most-once"));
            Assert.That(OfBroker("insert publish", [Row]).Because, Does.StartWith("it acknowledges nothing").And.EndWith(HalfDone));
        }
    }

    [Test]
    public void A_mark_before_the_work_tells_nothing_unless_it_becomes_old()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(OfTable([Marked], [Row], [Taken]).Promise, Is.Null);
            Assert.That(OfTable([Marked], [Row], [Taken]).Because, Does.Contain("the file does not say with 'later'"));
            Assert.That(OfTable([Marked], [Row]).Promise, Is.Null);
            Assert.That(Of(File(later: true), [], [Marked], [Row], [Taken]).Promise, Is.EqualTo("at-least-once"));
        }
    }

    private static readonly string[][][] CommitsWithARecord =
        [[[Seen], [Row], [Taken]], [[Row], [Taken, Seen]], [[Seen], [Taken, Row]], [[Taken, Seen], [Row]], [[Taken], [Row, Seen]]];

    [TestCaseSource(nameof(CommitsWithARecord))]
    public void A_table_that_no_effect_reads_tells_nothing(params string[][] commits) => Assert.That(
        OfTable(commits),
        Is.EqualTo(SeenMode.Unknown(
            "it writes handled_message, too, which no effect reads, and an undisturbed handling does not show whether a message that comes again is " +
            "skipped because of it")));

    [Test]
    public void A_table_that_is_written_with_everything_or_later_skips_no_message()
    {
        Assert.That(OfTable([Taken, Row, Seen]).Promise, Is.EqualTo("exactly-once"));
        Assert.That(OfTable([Taken, Row], [Seen]).Promise, Is.EqualTo("exactly-once"));
    }

    [Test]
    public void An_effect_without_a_commit_tells_nothing() => Assert.That(
        OfTable([Taken]).Because, Is.EqualTo("no commit has a row of effect 'row' with the message's id"));

    [Test]
    public void An_acknowledgement_that_comes_last_is_at_least_once_if_nothing_is_skipped()
    {
        var mode = OfBroker("insert publish ack", [Row]);

        Assert.That((mode.Promise, mode.Mode), Is.EqualTo(("at-least-once", "dtc-off")));
        Assert.That(mode.Because, Does.StartWith("the rows in one commit, and the acknowledgement comes last. That holds if "));
    }

    [Test]
    public void No_acknowledgement_is_at_most_once() =>
        Assert.That(Of(File(isBroker: true, sends: false), ["insert"], [Row]).Promise, Is.EqualTo("at-most-once"));

    // A connection that is cut before it brings the message again.
    [TestCase(
        "ack insert publish",
        "the acknowledgement comes first, as in transactions-off, so a kill loses the message, and a cut connection can bring it again")]
    [TestCase("insert ack publish", "the acknowledgement comes before some of the work and after the rest")]
    [TestCase("insert ack ack", "it acknowledged 2 times")]
    [TestCase("ack", "no request has the message's id in a form that the kit reads")]
    public void Another_order_tells_nothing(string order, string because) =>
        Assert.That(OfBroker(order, [Row]), Is.EqualTo(SeenMode.Unknown(because)));

    [TestCase("insert publish ack")]
    [TestCase("insert")]
    public void A_record_of_messages_in_a_commit_of_its_own_tells_nothing(string order) =>
        Assert.That(OfBroker(order, [Seen], [Row]).Because, Does.StartWith("it writes handled_message, too, "));

    [Test]
    public void Two_phases_tell_nothing() =>
        Assert.That(OfBroker("insert prepare ack", [Row]).Because, Does.StartWith("it prepares transactions, "));

    [Test]
    public void A_promise_that_it_has_needs_nothing()
    {
        var file = File(promise: "at-least-once");
        var seen = Observed(file, [], [Row], [Taken]);

        Assert.That(
            NeededMode.Of(file, seen, ModeOfAHandling.Of(file, seen)), Is.EqualTo(["Promised is at-least-once: it needs no other mode."]));
    }

    [Test]
    public void A_promise_that_it_has_not_names_the_mode_and_its_published_price()
    {
        var file = File(promise: "exactly-once");
        var seen = Observed(file, [], [Row], [Taken]);

        var advice = NeededMode.Of(file, seen, ModeOfAHandling.Of(file, seen)).ToList();

        Assert.That(advice[0], Does.StartWith("Promised is exactly-once, which the mode shared gives. "));
        Assert.That(
            advice[1], Does.StartWith("What that costs is published: shared handles ").And.Contain("bare.postgresql.shared.ado.insert-and-send, commit "));
    }

    [Test]
    public void What_is_not_known_gets_no_advice()
    {
        var file = File(promise: "exactly-once");
        var seen = Observed(file, [], [Seen], [Row], [Taken]);

        Assert.That(NeededMode.Of(file, seen, ModeOfAHandling.Of(file, seen)), Is.Empty);
    }

    [Test]
    public void A_broker_gives_no_send_exactly_once()
    {
        var file = File(promise: "exactly-once", isBroker: true);
        var seen = Observed(file, "insert publish ack".Split(' '), [Row]);

        Assert.That(
            NeededMode.Of(file, seen, ModeOfAHandling.Of(file, seen)).Single(),
            Does.StartWith("Promised is exactly-once. No mode of the kit gives that: "));
    }

    [Test]
    public void What_is_not_published_has_no_price()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(PublishedRatio.Find("rabbitmq", "full-dtc", "dtc-off"), Is.Null);
            Assert.That(PublishedRatio.Find("postgresql", "shared", "shared"), Is.Null);
            Assert.That(PublishedRatio.Find("rabbitmq", "outbox", "dtc-off"), Does.StartWith("outbox handles 0."));
        }
    }

    /// <summary>Rounds of cells with other handlers or settings have the same numbers.</summary>
    [TestCase("insert", null)]
    [TestCase("insert-and-send", "shared handles 2.00 (n < 5) times the messages of full-dtc (bare.postgresql.shared.ado, commit aaaaaaa, 2026-12-01)")]
    public void What_is_published_of_two_handlers_has_no_price(string scenario, string? found)
    {
        using var stored = new MemoryStream(Encoding.UTF8.GetBytes(
            $$$"""
            {
              "day": "2026-12-01", "commit": { "id": "aaaaaaaaaaaa" },
              "rows": [ {{{RowOf("shared", scenario, 200)}}}, {{{RowOf("full-dtc", "insert-and-send", 100)}}} ]
            }
            """));

        Assert.That(PublishedRatio.FindIn(stored, "postgresql", "shared", "full-dtc"), Is.EqualTo(found));

        static string RowOf(string mode, string scenario, int rate) =>
            $$$"""
            {
              "id": "bare.postgresql.{{{mode}}}.ado",
              "cell": { "framework": "bare", "transport": "postgresql", "mode": "{{{mode}}}", "access": "ado", "scenario": "{{{scenario}}}" },
              "rounds": [ { "round": 1, "counts": true, "perSecond": { "value": {{{rate}}} } } ]
            }
            """;
    }

    private static SeenMode OfTable(params string[][] commits) => Of(File(), [], commits);

    private static SeenMode OfBroker(string order, params string[][] commits) => Of(File(isBroker: true), order.Split(' '), commits);

    private static SeenMode Of(ProofFile file, string[] requests, params string[][] commits) => ModeOfAHandling.Of(file, Observed(file, requests, commits));

    private static Observation Observed(ProofFile file, string[] requests, params string[][] commits)
    {
        var isTable = file.Send is SendBySql;
        return new Observation(
            Message, [.. requests.Select(RequestOf)],
            [.. commits.Prepend(isTable ? [Job] : []).Where(rows => rows.Length > 0)
                .Select((rows, at) => new CommittedTransaction("orders", rows, Start.AddSeconds(at)))],
            isTable ? [new CommittedTransaction("orders", ["public.job: INSERT: id[uuid]:'0'"], Start.AddHours(-1))] : []);
    }

    private static SeenRequest RequestOf(string name, int at) => name switch
    {
        "ack" => Request("rabbitmq", "basic.ack", "", at),
        "publish" => Request("rabbitmq", "basic.publish shipments", $"{Message}", at),
        "insert" => Request("orders", "INSERT INTO placed_order (id) VALUES ('?')", $"{Message}", at),
        "prepare" => Request("orders", "PREPARE TRANSACTION '?'", "", at),
        _ => throw new ArgumentOutOfRangeException(nameof(name), name, "No such request."),
    };

    private static SeenRequest Request(string server, string text, string frames, int at) =>
        new(server, text, Connection: 1, new WireRequest(text, hasAnswer: true) { Frames = Encoding.ASCII.GetBytes(frames), Transaction = at });

    private static ProofFile File(
        bool later = false, string promise = "exactly-once", bool isBroker = false, bool sends = true, bool hasTwoRows = false) => ProofFileReader.Parse(
        "orders.proof.json",
        JsonSerializer.Serialize(new Dictionary<string, object?>
        {
            ["name"] = "orders",
            ["databases"] = new[] { "orders" },
            ["queues"] = isBroker ? ["orders", "shipments"] : Array.Empty<string>(),
            ["start"] = new
            {
                command = new[] { "./orders" },
                environment = new { DATABASE = "{{postgresql:orders}}", BROKER = isBroker ? "{{rabbitmq}}" : "" },
            },
            ["send"] = isBroker ? new { queue = "orders", body = "{{id}}" } : new { database = "orders", sql = "INSERT INTO job VALUES ('{{id}}')" },
            ["effects"] = new object?[]
            {
                new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" },
                isBroker && sends ? new { name = "shipment", queue = "shipments" } : null,
                hasTwoRows ? new { name = "second", database = "orders", sql = "SELECT id FROM shipment" } : null,
            }.OfType<object>(),
            ["idle"] = isBroker ? null : new object[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
            ["later"] = later ? new object[] { new { database = "orders", sql = "UPDATE job SET locked = false" } } : null,
            ["promise"] = promise,
        }.Where(key => key.Value is not null).ToDictionary()));
}
