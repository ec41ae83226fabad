using Kit.Guarantees;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;

namespace Kit.Tests.Proofs;

/// <summary>What the effects of a message say about it, and whether that was promised.</summary>
public sealed class AccountOfAnApplication
{
    private static readonly IReadOnlyList<Effect> Effects =
        [new RowEffect("row", "orders", "SELECT", PerMessage: 2), new QueueEffect("shipment", "shipments", PerMessage: 1)];

    private static readonly Guid Message = Guid.CreateVersion7();
    private static readonly Guid Other = Guid.CreateVersion7();
    private static readonly DateTimeOffset Committed = new(2026, 11, 1, 12, 0, 0, TimeSpan.Zero);

    [Test]
    public void What_has_the_id_of_no_message_is_of_nobody()
    {
        var (mine, strange) = (Guid.CreateVersion7(), Guid.CreateVersion7());
        string[] texts = [$"{mine}", $"order-{mine.ToString().ToUpperInvariant()};{strange}", $"{strange}", "5"];

        Assert.That(ProofAccount.OfNobody(texts, new HashSet<Guid> { mine }), Is.EqualTo([$"{strange}", "5"]));
    }

    [TestCase(2, 1, DeliveryClass.Once)]
    [TestCase(0, 0, DeliveryClass.Lost)]
    [TestCase(3, 1, DeliveryClass.Duplicated)]
    [TestCase(4, 2, DeliveryClass.Duplicated)]
    [TestCase(2, 2, DeliveryClass.DuplicatedOutgoing)]
    [TestCase(1, 1, DeliveryClass.Torn)]
    [TestCase(2, 0, DeliveryClass.Torn)]
    [TestCase(0, 1, DeliveryClass.Torn)]
    [TestCase(4, 0, DeliveryClass.Torn)]
    public void The_class_follows_from_the_counts(int rows, int shipments, DeliveryClass expected) =>
        Assert.That(Account(rows, shipments).Messages.Single(message => message.Id == Message).Class, Is.EqualTo(expected));

    [TestCase(0, 0, 1, DeliveryClass.CleanError)]
    [TestCase(2, 1, 1, DeliveryClass.Zombie)]
    [TestCase(2, 0, 1, DeliveryClass.Zombie)]
    [TestCase(2, 1, 0, DeliveryClass.Once)]
    [TestCase(2, 2, 0, DeliveryClass.DuplicatedOutgoing)]
    [TestCase(0, 0, 0, DeliveryClass.Stuck)]
    public void With_dead_letters_in_the_file_the_class_follows_from_them_too(int rows, int shipments, int errors, DeliveryClass expected)
    {
        IReadOnlyList<Effect> effects = [.. Effects, new QueueEffect("error", "orders.error", FoundEffect.NeverThere)];
        var found = new Dictionary<string, IReadOnlyList<string>>
        {
            ["row"] = Enumerable.Repeat($"{Message}", rows).ToList(),
            ["shipment"] = Enumerable.Repeat($"{Message}", shipments).ToList(),
            ["error"] = Enumerable.Repeat($"{Message}", errors).ToList(),
        };

        var message = ProofAccount.Of([Message], effects, found, ["queue 'other': 1"], []).Messages.Single();
        Assert.That(message.Class, Is.EqualTo(expected));
        Assert.That($"{message.Found[^1]}", Is.EqualTo($"error: {errors}"));
    }

    [Test]
    public void Without_an_effect_and_with_work_left_it_is_stuck() =>
        Assert.That(Account(0, 0, "queue 'orders': 1").Messages[0].Class, Is.EqualTo(DeliveryClass.Stuck));

    [Test]
    public void An_id_is_found_within_a_text_in_any_case() =>
        Assert.That(ProofAccount.Names($"{{ \"order\": \"{Message.ToString().ToUpperInvariant()}\" }}", Message), Is.True);

    [TestCase("at-least-once", 4, 1, FaultVerdict.Kept)]
    [TestCase("exactly-once", 4, 1, FaultVerdict.Broken)]
    [TestCase("at-least-once", 0, 0, FaultVerdict.Broken)]
    [TestCase("at-most-once", 0, 0, FaultVerdict.Kept)]
    [TestCase("at-most-once", 2, 0, FaultVerdict.Broken)]
    public void The_promise_decides(string promise, int rows, int shipments, FaultVerdict expected)
    {
        var result = Judge(promise, PointWay.Killed, Account(rows, shipments));

        Assert.That(result.Verdict, Is.EqualTo(expected), string.Join("; ", result.Violations));
        Assert.That(result.Timeline, Is.Not.Empty);
    }

    [Test]
    public void After_a_kill_ordinary_messages_must_be_handled_once()
    {
        var account = Account(2, 1, other: 3);

        Assert.That(Judge("at-least-once", PointWay.Killed, account).Violations.Single(), Does.StartWith("an ordinary message after it is duplicated"));
        Assert.That(Judge("at-least-once", PointWay.Cut, account).Verdict, Is.EqualTo(FaultVerdict.Kept));
    }

    [Test]
    public void A_process_that_lives_must_handle_the_last_message_once()
    {
        var result = Judge("at-least-once", PointWay.Cut, Account(2, 1, other: 3), late: [Other]);

        Assert.That(
            result.Violations, Is.EqualTo(["a message that was sent when nothing moved any more is duplicated (row: 3 of 2, shipment: 1 of 1)"]));
        Assert.That(result.Timeline.Select(step => step.Text), Has.One.EqualTo("when nothing moves any more, others are sent, and are: duplicated"));
    }

    /// <summary>A process that waits for an answer can have a call under way only if it does not await it.</summary>
    [TestCase("exactly-once", "COMMIT", 1, ExpectedResult = FaultVerdict.Void)]
    [TestCase("exactly-once", "COMMIT", 0, ExpectedResult = FaultVerdict.Kept)]
    [TestCase("exactly-once", null, 1, ExpectedResult = FaultVerdict.Kept)]
    [TestCase("at-least-once", "COMMIT", 1, ExpectedResult = FaultVerdict.Kept)]
    public FaultVerdict A_call_that_was_refused_can_have_been_one_too_many(string promise, string? answer, int refused)
    {
        var point = Point(1, "COMMIT") with { HasAnswer = answer is not null };
        var outcome = new PointOutcome<ProofAccount>(Because: null) { IsMet = true, Chosen = Message, Account = Account(2, 1) with { CallsRefused = refused } };

        return Judge(promise, PointWay.NeverSent, outcome, point).Verdict;
    }

    [Test]
    public void Work_that_is_left_is_a_violation() =>
        Assert.That(
            Judge("at-least-once", PointWay.Killed, Account(2, 1, "prepared transactions: 1")).Violations,
            Is.EqualTo(["work is left: prepared transactions: 1"]));

    [TestCase("exactly-once", 4, 1, FaultVerdict.Broken, TestName = "What is there twice stays")]
    [TestCase("exactly-once", 0, 0, FaultVerdict.Void, TestName = "What is missing can still come")]
    [TestCase("exactly-once", 2, 1, FaultVerdict.Void, TestName = "What is right can still become wrong")]
    [TestCase("at-least-once", 4, 1, FaultVerdict.Void, TestName = "What may be there twice is no reason")]
    public void If_it_does_not_settle_only_what_stays_is_broken(string promise, int rows, int shipments, FaultVerdict expected)
    {
        var result = Judge(promise, PointWay.Killed, Account(rows, shipments, "queue 'orders': 1"), unsettled: "it did not settle within 60 s");

        Assert.That(result.Verdict, Is.EqualTo(expected));
        Assert.That(result.Because, Is.EqualTo(expected is FaultVerdict.Void ? "it did not settle within 60 s" : null));
    }

    [TestCase(true)]
    [TestCase(false)]
    public void If_it_does_not_settle_what_a_message_before_has_become_stays(bool isMet)
    {
        var before = OfMessage(4, 1, left: null) with { Id = Guid.CreateVersion7() };
        var outcome = new PointOutcome<ProofAccount>("it did not settle")
        {
            IsMet = isMet,
            Unsettled = "it did not settle",
            Chosen = Message,
            Account = Account(2, 1) with { Changed = [before] },
        };

        var result = Judge("exactly-once", PointWay.Cut, outcome);

        Assert.That(result.Verdict, Is.EqualTo(FaultVerdict.Broken));
        Assert.That(result.Violations.Single(), Does.StartWith($"a message before it, {before.Id}, has become duplicated "));
    }

    [Test]
    public void Lines_of_the_log_are_transactions_and_only_their_rows_are_told()
    {
        var commits = CommittedTransaction.Of(
            "orders",
            [
                ("7", "BEGIN", null), ("7", $"table public.placed: INSERT: id[uuid]:'{Message}'", null),
                ("7", "table public.stock: UPDATE: n[integer]:4", null), ("7", "COMMIT", Committed),
                ("9", "BEGIN", null), ("9", $"table public.placed: INSERT: id[uuid]:'{Other}'", null), ("9", "COMMIT", Committed.AddSeconds(1)),
            ]).ToList();

        Assert.That(commits.Select(commit => commit.Names(Message)), Is.EqualTo([true, false]));
        Assert.That(commits.Select(commit => commit.CommittedUtc), Is.EqualTo([Committed, Committed.AddSeconds(1)]));
        Assert.That(
            $"{commits[0]}",
            Is.EqualTo($"committed together in orders: public.placed: INSERT: id[uuid]:'{Message}'; public.stock: UPDATE: n[integer]:4"));
    }

    [Test]
    public void Of_many_or_long_rows_the_first_are_told()
    {
        var commit = new CommittedTransaction("orders", [.. Enumerable.Range(1, 10).Select(row => $"{row} {new string('x', 200)}")], Committed);

        Assert.That($"{commit}", Does.StartWith("committed together in orders: 1 xxx").And.EndsWith(" …; and 2 more rows"));
    }

    [Test]
    public void Kills_after_commits_and_acknowledgements_come_first()
    {
        CrashPoint[] points = [Point(1, "BEGIN"), Point(2, "COMMIT"), Point(3, "basic.ack")];

        var order = PointOrder.Of(PointExperiment.At("orders", points)).Select(experiment => $"{experiment.Token}"["orders@".Length..]);

        Assert.That(string.Join(' ', order), Is.EqualTo("2:b 3:b 2:a 3:a 1:b 1:a 1:c 2:c 3:c 1:g 2:g 3:g 1:d 2:d 3:d"));
    }

    /// <summary>A try that did not come to its point shows nothing, or that a promise is broken without any fault.</summary>
    [TestCase("at-most-once", false, 2, 1, null, null, ExpectedResult = FaultVerdict.Void)]
    [TestCase("at-most-once", false, 0, 0, null, null, ExpectedResult = FaultVerdict.Broken)]
    [TestCase("at-most-once", true, 0, 0, null, null, ExpectedResult = FaultVerdict.Void)]
    [TestCase("at-least-once", true, 0, 0, null, null, ExpectedResult = FaultVerdict.Broken)]
    [TestCase("exactly-once", false, 0, 0, "queue 'orders': 1", null, ExpectedResult = FaultVerdict.Broken)]
    [TestCase("exactly-once", false, 0, 0, "queue 'orders': 1", "it did not come to rest", ExpectedResult = FaultVerdict.Void)]
    [TestCase("exactly-once", false, 4, 2, null, "it did not come to rest", ExpectedResult = FaultVerdict.Broken)]
    public FaultVerdict One_that_was_not_met_is_judged(
        string promise, bool isKilledElsewhere, int rows, int shipments, string? left, string? unsettled) => Judge(
        promise, PointWay.Killed,
        new PointOutcome<ProofAccount>("it did not come")
        {
            Chosen = Message,
            IsKilledElsewhere = isKilledElsewhere,
            Unsettled = unsettled,
            Account = Account(rows, shipments, left, other: 2) with { Messages = [OfMessage(rows, shipments, left)] },
        }).Verdict;

    private static MessageAccount OfMessage(int rows, int shipments, string? left) => Account(rows, shipments, left).Messages[0];

    [TestCase("INSERT INTO stock VALUES ($1)", ExpectedResult = "INSERT INTO stock VALUES ($1)")]
    [TestCase("UPDATE ONLY public.\"stock\" SET n = n - ?", ExpectedResult = "UPDATE ONLY public.\"stock\" SET n = n - ?")]
    [TestCase("WITH gone AS (DELETE FROM stock) SELECT ?", ExpectedResult = "WITH gone AS (DELETE FROM stock) SELECT ?")]
    [TestCase("MERGE INTO stock USING placed_order", ExpectedResult = "MERGE INTO stock USING placed_order")]
    [TestCase("COPY stock (id, n) FROM STDIN", ExpectedResult = "COPY stock (id, n) FROM STDIN")]
    [TestCase("COPY stock TO STDOUT", ExpectedResult = "")]
    [TestCase("SELECT n FROM stock FOR UPDATE SKIP LOCKED", ExpectedResult = "")]
    [TestCase("INSERT INTO Placed_Order VALUES ($1) ON CONFLICT (id) DO UPDATE SET n = ?", ExpectedResult = "")]
    [TestCase("INSERT INTO placed_order_line VALUES ($1)", ExpectedResult = "INSERT INTO placed_order_line VALUES ($1)")]
    [TestCase("DELETE FROM job WHERE id = $1", ExpectedResult = "")]
    [TestCase("UPDATE job SET total = total + $1", ExpectedResult = "UPDATE job SET total = total + $1")]
    public string What_writes_to_a_table_that_nobody_reads_is_named(string request) =>
        string.Join(' ', WrittenTables.UnreadIn([request, request], ["SELECT id FROM placed_order"], ["SELECT count(*) FROM job WHERE NOT done"]));

    [Test]
    public void What_writes_to_a_table_that_an_effect_reads_is_found() => Assert.That(
        WrittenTables.ReadIn(["INSERT INTO stock (id) SELECT id FROM imp_?", "DELETE FROM imp_?", "SELECT id FROM stock"], ["SELECT id FROM stock"]),
        Is.EqualTo(["INSERT INTO stock (id) SELECT id FROM imp_?"]));

    [TestCase("SELECT id FROM invoice ORDER BY id", "Order", false)]
    [TestCase("SELECT kind, count(*) FROM invoice GROUP BY kind", "Group", false)]
    [TestCase("SELECT message FROM invoice", "message", false)]
    [TestCase("SELECT id, message FROM invoice WHERE message IS NOT NULL", "message", false)]
    [TestCase("SELECT id FROM message.invoice", "message", false)]
    [TestCase("SELECT id FROM invoices", "invoice", false)]
    [TestCase("SELECT id FROM invoice JOIN \"Order\" o ON o.id = invoice.order_id ORDER BY id", "Order", true)]
    [TestCase("select id from sales.\"Order\"", "Order", true)]
    [TestCase("SELECT a.id FROM job a, invoice b WHERE a.id = b.id", "invoice", true)]
    [TestCase("SELECT a.id FROM (SELECT id FROM job WHERE done) a, invoice b", "invoice", true)]
    [TestCase("WITH made AS (SELECT id FROM public.invoice) SELECT id FROM made", "invoice", true)]
    [TestCase("SELECT id FROM job UNION ALL SELECT id FROM ONLY invoice", "invoice", true)]
    [TestCase("TABLE invoice", "invoice", true)]
    public void A_statement_reads_the_tables_that_it_names_as_such(string statement, string table, bool isRead) =>
        Assert.That(WrittenTables.Names(statement, table), Is.EqualTo(isRead));

    /// <summary>A function always answers with one row, so its call counts as a poll.</summary>
    [TestCase("basic.publish shipments (rabbitmq)", "SELECT handle_next() (orders)", true)]
    [TestCase("basic.publish shipments (rabbitmq)", "SELECT * FROM sales.\"handleNext\"($1) (orders)", true)]
    [TestCase("basic.publish shipments (rabbitmq)", "CALL handle_next() (orders)", true)]
    [TestCase("basic.publish shipments (rabbitmq)", "SELECT handle_next() (others)", false)]
    [TestCase("basic.publish shipments (rabbitmq)", "SELECT count(*) FROM job (orders)", false)]
    [TestCase("basic.publish shipments (rabbitmq)", "SELECT pg_try_advisory_lock(?) (orders)", false)]
    [TestCase("basic.publish shipments (rabbitmq)", "SELECT ? (orders)", false)]
    [TestCase("UPDATE job SET done = true (orders)", "SELECT handle_next() (orders)", true)]
    [TestCase("INSERT INTO stock VALUES ($1) (orders)", "SELECT handle_next() (orders)", false)]
    [TestCase("SELECT handle($1) (orders)", "SELECT beat() (orders)", false)]
    public void What_can_write_an_effect_in_a_function_is_found(string tried, string other, bool isHidden) => Assert.That(
        WrittenTables.HiddenIn([tried], [other], [new RowEffect("row", "orders", "SELECT id FROM stock", PerMessage: 1)]),
        Is.EqualTo(isHidden ? new[] { other } : []));

    private static CrashPoint Point(int number, string text) =>
        new(number, new RequestId("orders", text, text, 1, 1), Before: null, HasAnswer: true, CanBeProved: true);

    private static ProofAccount Account(int rows, int shipments, string? left = null, int other = 2) => ProofAccount.Of(
        [Message, Other],
        Effects,
        new Dictionary<string, IReadOnlyList<string>>
        {
            ["row"] = [.. Enumerable.Repeat($"{Message}", rows), .. Enumerable.Repeat($"{Other}", other)],
            ["shipment"] = [.. Enumerable.Repeat($"of {Message}", shipments), $"of {Other}"],
        },
        left is null ? [] : [left],
        output: []);

    private static ProofResult Judge(string promise, PointWay way, ProofAccount account, string? unsettled = null, params IReadOnlyList<Guid> late) => Judge(
        promise, way, new PointOutcome<ProofAccount>(unsettled) { IsMet = true, Chosen = Message, Late = late, Account = account });

    private static ProofResult Judge(string promise, PointWay way, PointOutcome<ProofAccount> outcome) => Judge(promise, way, outcome, Point(1, "COMMIT"));

    private static ProofResult Judge(string promise, PointWay way, PointOutcome<ProofAccount> outcome, CrashPoint point)
    {
        var file = ProofFileReader.Parse(
            "orders.proof.json",
            """
            {
              "name": "orders", "databases": ["orders"], "start": { "command": ["orders"] }, "send": { "queue": "orders", "body": "{{id}}" },
              "effects": [ { "name": "shipment", "queue": "shipments" } ], "promise": "PROMISE"
            }
            """.Replace("PROMISE", promise, StringComparison.Ordinal));
        return new ProofJudge(file).Judge(
            new PointExperiment(point, way, new PointToken("orders", 1, way), [point]), outcome);
    }
}
