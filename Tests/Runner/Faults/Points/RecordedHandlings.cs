using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;

namespace Kit.Tests.Faults.Points;

/// <summary>The points of handlings that differ, as handlings do.</summary>
[Parallelizable]
public sealed class RecordedHandlings
{
    private static readonly SeenRequest[] Poll = PollIn(7);

    private static readonly SeenRequest[] Receive = [.. Transaction(1, 8, ("BEGIN", "BEGIN"), ("DELETE", "DELETE 1"), ("COMMIT", "COMMIT"))];

    private static readonly IReadOnlySet<string> Idle = Handling.TransactionsIn(Poll);

    [Test]
    public void Polls_are_no_points_and_do_not_count()
    {
        var points = Handling.PointsOf([Handling.Of([.. Poll, .. Receive, .. PollIn(9)], Idle)]);

        Assert.That(
            points.Select(point => point.Request),
            Is.EqualTo(new[]
            {
                new RequestId("queue", "BEGIN", "BEGIN", 1, 1), new RequestId("queue", "DELETE", "DELETE 1", 1, 1),
                new RequestId("queue", "COMMIT", "COMMIT", 1, 1),
            }));
        Assert.That(points.Select(point => point.Number), Is.EqualTo(new[] { 1, 2, 3 }));
        Assert.That(points.Select(point => point.Before), Is.EqualTo(new[] { null, "BEGIN", "DELETE" }));
        Assert.That(points.Select(point => string.Join(' ', point.Leading)), Is.EqualTo(new[] { "", "1", "1 2" }));
        Assert.That(points.Select(point => point.IsPolled), Is.EqualTo(new[] { true, false, false }), "the poll begins, too, and deletes nothing");
    }

    [Test]
    public void A_point_knows_which_of_the_others_came_before_it_in_each_handling()
    {
        var log = Transaction(2, 1, ("INSERT", "INSERT 0 1")).ToArray();
        var points = Handling.PointsOf([Handling.Of([.. Receive, .. log], Idle), Handling.Of([.. Receive[..2], .. log, Receive[2]], Idle)]);

        Assert.That(points.Select(point => point.Request.Text), Is.EqualTo(new[] { "BEGIN", "DELETE", "COMMIT", "INSERT" }));
        Assert.That(points.Select(point => string.Join(' ', point.Unordered)), Is.EqualTo(new[] { "", "", "4", "3" }));
    }

    /// <summary>An answer that differs each time is no point, and has its place in the transaction.</summary>
    [Test]
    public void A_point_has_its_place_among_all_requests_of_its_transaction()
    {
        var (first, second) = (With("SELECT 3"), With("SELECT 4"));
        var commit = Handling.PointsOf([Handling.Of(first, Idle), Handling.Of(second, Idle)])[^1];

        Assert.That((commit.Place, string.Join(' ', commit.Leading), commit.Before), Is.EqualTo((4, "1 2", "SELECT")));

        static SeenRequest[] With(string counted) =>
            [.. Transaction(1, 8, ("BEGIN", "BEGIN"), ("DELETE", "DELETE 1"), ("SELECT", counted), ("COMMIT", "COMMIT"))];
    }

    [Test]
    public void A_request_of_one_handling_alone_is_no_point()
    {
        var extra = Transaction(2, 1, ("SELECT", "SELECT 1"));

        var points = Handling.PointsOf([Handling.Of([.. Receive, .. extra], Idle), Handling.Of(Receive, Idle), Handling.Of(Receive, Idle)]);

        Assert.That(points.Select(point => point.Request.Text), Is.EqualTo(new[] { "BEGIN", "DELETE", "COMMIT" }));
    }

    [Test]
    public void Polls_are_named_once_and_not_if_their_requests_are_points_too() => Assert.That(
        RecordedPoints.Of([Handling.Of([.. Poll, .. Receive], Idle), Handling.Of([.. Poll, .. Receive, .. PollIn(9)], Idle)]).Polls,
        Is.EqualTo(["ROLLBACK (queue)"]));

    /// <summary>A message can meet a poll by chance. Its handling is replaced.</summary>
    [Test]
    public void What_most_handlings_do_in_a_transaction_that_was_open_before_is_refused()
    {
        var once = Handling.Of(Receive, Idle);
        Handling[] byChance = [With(true, "INSERT"), once, With(true, "UPDATE"), once, once];

        Assert.That(
            () => RecordedPoints.Of([With(true, "INSERT"), once, With(true, "INSERT")]),
            Throws.TypeOf<KitException>().With.Message.EndsWith("be told from a poll: INSERT (queue)."));
        Assert.That(
            Enumerable.Range(1, byChance.Length).Select(count => RecordedPoints.AreEnough(byChance[..count])),
            Is.EqualTo([false, false, false, false, true]));
        var recorded = RecordedPoints.Of(byChance);
        Assert.That((recorded.Points.Count, recorded.Unused, recorded.Polls.Count), Is.EqualTo((3, 2, 0)));
        Assert.That(RecordedPoints.AreEnough([.. Enumerable.Repeat(byChance[0], 6)]), "it does not record for ever");
        Assert.That(RecordedPoints.Of([With(false, "SELECT"), With(false, "SELECT")]).Polls, Is.EqualTo(["SELECT (queue)"]), "a lock is held");

        static Handling With(bool ends, params string[] hidden) =>
            Handling.Of(Receive, Idle, [.. hidden.Select(text => ("queue", text, (string?)"ok"))], ends);
    }

    /// <summary>
    /// An update with another count each time is no point, also if two counts are alike by chance. Neither is what is asked twice in one handling and once in
    /// another.
    /// </summary>
    [TestCase("UPDATE 17", "UPDATE 18", "UPDATE 19", ExpectedResult = "0 UPDATE (stock)")]
    [TestCase("UPDATE 17", "UPDATE 17", "UPDATE 19", ExpectedResult = "0 UPDATE (stock)")]
    [TestCase("UPDATE 17", "UPDATE 17", "", ExpectedResult = "1 ")]
    [TestCase("UPDATE 17", "UPDATE 17", "UPDATE 17", ExpectedResult = "1 ")]
    [TestCase("UPDATE 17,UPDATE 17", "UPDATE 17", "UPDATE 17", ExpectedResult = "1 UPDATE (stock)")]
    [TestCase("UPDATE 17,UPDATE 18", "UPDATE 17,UPDATE 18", "UPDATE 17,UPDATE 19", ExpectedResult = "1 UPDATE (stock)")]
    public string A_request_that_is_no_point_is_named(params string[] answers)
    {
        var recorded = RecordedPoints.Of([.. answers.Select(With)]);

        Assert.That(recorded.Points.Select(point => point.Request.Text).Take(3), Is.EqualTo(new[] { "BEGIN", "DELETE", "COMMIT" }));
        return $"{recorded.Points.Count - 3} {string.Join(' ', recorded.Rare)}";

        static Handling With(string each) => Handling.Of(
            [
                .. Receive,
                .. each.Split(',', StringSplitOptions.RemoveEmptyEntries)
                    .SelectMany((answer, at) => Transaction(2, at, ("UPDATE", answer)).Select(one => one with { Server = "stock" })),
            ],
            Idle);
    }

    /// <summary>What comes in one of two times without a message can be late work of a message.</summary>
    [Test]
    public void What_is_asked_once_without_a_message_is_no_poll()
    {
        var late = Transaction(2, 1, ("UPDATE", "UPDATE 1"));

        var idle = IdleTraffic.Of(
            new IdleTime([.. PollIn(1), .. late], [("queue", "LOCK", "LOCK"), ("queue", "SELECT", "SELECT 1")]),
            new IdleTime([.. Transaction(1, 2, ("BEGIN", "BEGIN"), ("DELETE", "DELETE 3"), ("ROLLBACK", "ROLLBACK"))], [("queue", "SELECT", "SELECT 2")]));

        Assert.That(idle.Late, Is.EqualTo(["UPDATE (queue)"]));
        Assert.That(idle.Transactions, Has.Count.EqualTo(2), "a poll can have another answer");
        Assert.That(idle.Requests.Select(one => one.Text).Distinct(), Is.EquivalentTo(["BEGIN", "DELETE", "ROLLBACK", "SELECT"]));
        Assert.That(RecordedPoints.Of([Handling.Of(Receive, idle.Transactions)], idle.Late).Late, Is.EqualTo(["UPDATE (queue)"]));
    }

    [Test]
    public void Of_handlings_with_the_same_points_the_shortest_says_where_they_are()
    {
        var points = Handling.PointsOf([Handling.Of(With("SELECT"), Idle), Handling.Of(Receive, Idle), Handling.Of(Receive, Idle)]);

        Assert.That(points.Select(point => (point.Request.Text, point.Place)), Is.EqualTo([("BEGIN", 1), ("DELETE", 2), ("COMMIT", 3)]));

        static SeenRequest[] With(string extra) =>
            [.. Transaction(1, 8, ("BEGIN", "BEGIN"), (extra, extra), ("DELETE", "DELETE 1"), ("COMMIT", "COMMIT"))];
    }

    [TestCase("COMMIT", "COMMIT", ExpectedResult = true)]
    [TestCase("PREPARE TRANSACTION '?'", "PREPARE TRANSACTION", ExpectedResult = true)]
    [TestCase("ROLLBACK TO SAVEPOINT a", "ROLLBACK", ExpectedResult = false)]
    [TestCase("SELECT ?", "SELECT 1", ExpectedResult = false)]
    [TestCase("COMMIT; BEGIN", "COMMIT", "BEGIN", ExpectedResult = true)]
    [TestCase("ROLLBACK TO SAVEPOINT a; ROLLBACK", "ROLLBACK", ExpectedResult = false)]
    [TestCase("ROLLBACK TO SAVEPOINT a; ROLLBACK", "ROLLBACK", "ROLLBACK", ExpectedResult = true)]
    [TestCase("ROLLBACK TO a; ROLLBACK WORK TO b; SELECT 1", "ROLLBACK", "ROLLBACK", "SELECT 1", ExpectedResult = false)]
    public bool A_statement_ends_its_transaction(string text, params string[] answers) => StatementText.HasEndedTransaction(text, answers);

    [Test]
    public void A_request_of_one_handling_alone_is_named() => Assert.That(
        RecordedPoints.Of([Handling.Of([.. Receive, .. Transaction(2, 1, ("SELECT", "SELECT 1"))], Idle), Handling.Of(Receive, Idle)]).Rare,
        Is.EqualTo(["SELECT (queue)"]));

    [TestCase(true, true, ExpectedResult = "abcdefg")]
    [TestCase(false, true, ExpectedResult = "abcefg")]
    [TestCase(false, false, ExpectedResult = "aeg")]
    public string A_point_has_the_ways_that_can_be_known(bool hasAnswer, bool canBeProved)
    {
        var point = new CrashPoint(1, new RequestId("queue", "basic.ack", Outcome: null, 1, 1), Before: null, hasAnswer, canBeProved);

        var ways = point.WaysAmong(Enum.GetValues<PointWay>());
        Assert.That(point.Ways, Is.EqualTo(ways.Where(way => !way.Facts().CrashesServer)));
        return string.Concat(ways.Select(way => way.Facts().Letter));
    }

    [TestCase("INSERT INTO t  VALUES\n (1, 'it''s', $1);", ExpectedResult = "INSERT INTO t VALUES (?, '?', $1)")]
    [TestCase("PREPARE TRANSACTION 'kit-0191f0c5-7d5e-7cc3-98c4-dc0c0c07398f'", ExpectedResult = "PREPARE TRANSACTION '?'")]
    [TestCase("SAVEPOINT kit_before_sends_17", ExpectedResult = "SAVEPOINT kit_before_sends_?")]
    [TestCase("CREATE TEMP TABLE imp_9c58451c0db", ExpectedResult = "CREATE TEMP TABLE imp_?")]
    [TestCase("SAVEPOINT \"sp_fa4e4e2df\"", ExpectedResult = "SAVEPOINT \"sp_?\"")]
    [TestCase("SELECT facade, decade FROM a1b2c3d4e5g", ExpectedResult = "SELECT facade, decade FROM a1b2c3d4e5g")]
    [TestCase("/* job:4f1a */ INSERT INTO t VALUES ('a -- b', $1) -- for 17", ExpectedResult = "INSERT INTO t VALUES ('?', $1)")]
    [TestCase("SELECT $$it's 5$$, $x$a$$b$x$", ExpectedResult = "SELECT '?', '?'")]
    [TestCase("SELECT int4, a1 FROM t2 WHERE x = 1.5", ExpectedResult = "SELECT int4, a1 FROM t2 WHERE x = ?.?")]
    [TestCase("SELECT \"it's\" FROM t WHERE a = 'x'", ExpectedResult = "SELECT \"it's\" FROM t WHERE a = '?'")]
    [TestCase("SELECT a$b$ FROM t WHERE c = 5", ExpectedResult = "SELECT a$b$ FROM t WHERE c = ?")]
    [TestCase("SELECT 'a literal without an end, 5", ExpectedResult = "SELECT '?'")]
    [TestCase("SELECT 5 /* a comment without an end, 'x'", ExpectedResult = "SELECT ?")]
    public string A_statement_is_known_without_its_values(string text) => StatementText.Normal(text);

    [TestCase("DELETE FROM t WHERE id IN (1, 2, 3)", "DELETE FROM t WHERE id IN (4,5)", ExpectedResult = "DELETE FROM t WHERE id IN (?, …)")]
    [TestCase("WHERE id IN ($1, $2)", "WHERE id IN ($1, $2, $3, $4)", ExpectedResult = "WHERE id IN ($1, …)")]
    [TestCase("WHERE id IN ('a', NULL)", "WHERE id IN ('b', 'c', 'd')", ExpectedResult = "WHERE id IN ('?', …)")]
    [TestCase("SELECT ARRAY[1, 2]", "SELECT ARRAY[1, 2.5, -3]", ExpectedResult = "SELECT ARRAY[?, …]")]
    [TestCase("= ANY(ARRAY['a'::uuid, 'b'::uuid])", "= ANY(ARRAY['a'::uuid, 'b'::uuid, 'c'::uuid])", ExpectedResult = "= ANY(ARRAY['?'::uuid, …])")]
    [TestCase("VALUES (1, 'a'), (2, 'b')", "VALUES (1, 'a'), (2, 'b'), (3, 'c')", ExpectedResult = "VALUES (?, '?'), …")]
    [TestCase(
        "VALUES ($1, now(), $2), ($3, now(), $4) RETURNING id", "VALUES ($1, now(), $2), ($3, now(), $4), ($5, now(), $6) RETURNING id",
        ExpectedResult = "VALUES ($1, now(), $2), … RETURNING id")]
    [TestCase("WHERE (a, b) IN ((1, 2), (3, 4))", "WHERE (a, b) IN ((1, 2), (3, 4), (5, 6))", ExpectedResult = "WHERE (a, b) IN ((?, ?), …)")]
    public string A_statement_is_known_without_the_number_of_its_values(string few, string many)
    {
        Assert.That(StatementText.Normal(many), Is.EqualTo(StatementText.Normal(few)));
        return StatementText.Normal(few);
    }

    [TestCase("INSERT INTO t (a, b) VALUES ($1, $2)")]
    [TestCase("INSERT INTO t VALUES (?, '?', $1)")]
    [TestCase("INSERT INTO t VALUES (?, NULL), (?, '?')")]
    [TestCase("SELECT f($1, $2) FROM t WHERE id IN ($1) AND a = ANY($2) AND b = ARRAY[?]")]
    [TestCase("SELECT id FROM t WHERE id IN (SELECT a FROM u), (?), (?)")]
    [TestCase("basic.publish")]
    public void A_statement_without_a_list_stays_as_it_is(string text) => Assert.That(StatementText.Normal(text), Is.EqualTo(text));

    /// <summary>A statement of a mapper names dozens of columns.</summary>
    [Test]
    public void Long_statements_with_the_same_beginning_are_not_alike()
    {
        var columns = string.Join(", ", Enumerable.Range('a', 26).Select(one => $"column_{(char)one}"));
        var (first, second) = (StatementText.Normal($"SELECT {columns} FROM first"), StatementText.Normal($"SELECT {columns} FROM second"));

        Assert.That(first, Is.Not.EqualTo(second));
        Assert.That(first, Does.StartWith("SELECT column_a, column_b, ").And.Match(" … #[0-9a-f]{8}$"));
        Assert.That(StatementText.Normal($"SELECT {columns} FROM t WHERE a = 1"), Is.EqualTo(StatementText.Normal($"SELECT {columns} FROM t WHERE a = 2")));
    }

    [TestCase("WITH a AS (SELECT {0} FROM t), b AS (INSERT INTO b VALUES (1)) UPDATE c SET x = 1", ExpectedResult = "b c")]
    [TestCase("INSERT INTO a ({0}) VALUES (1) ON CONFLICT DO UPDATE SET x = 1", ExpectedResult = "a")]
    [TestCase("COPY a ({0}) FROM STDIN", ExpectedResult = "a")]
    public string What_a_long_statement_writes_to_is_known(string format)
    {
        var text = string.Format(
            System.Globalization.CultureInfo.InvariantCulture, format, string.Join(", ", Enumerable.Range('a', 26).Select(one => $"column_{(char)one}")));

        return string.Join(' ', StatementWrites.In(StatementText.Normal(text)).Select(write => write.Groups["table"].Value));
    }

    /// <summary>Wherever the text is cut.</summary>
    [Test]
    public void The_name_of_a_table_is_not_cut()
    {
        for (var length = 180; length < 260; length++)
        {
            var (before, after) = (new string('x', length), new string('y', 200));
            var normal = StatementText.Normal($"WITH {before} AS (SELECT) INSERT INTO placed_order VALUES (1) RETURNING {after}");

            Assert.That(StatementWrites.In(normal).Select(write => write.Groups["table"].Value), Is.EqualTo(["placed_order"]), normal);
        }
    }

    [TestCase('1')]
    [TestCase('x')]
    public void A_statement_is_known_without_its_value_however_long_it_is(char of) => Assert.That(
        StatementText.Normal($"INSERT INTO t VALUES ('{new string(of, 1_000_000)}', 5)"), Is.EqualTo(StatementText.Normal("INSERT INTO t VALUES ('x', 5)")));

    /// <summary>Each is some megabytes long. A pattern that read them again from each place would take hours.</summary>
    [TestCase("'", "a''", "", "'?'")]
    [TestCase("'", "''", "", "'?'")]
    [TestCase("", "$a$ $b$ ", "", null)]
    [TestCase("SELECT 1", "/* ", "", "SELECT ?")]
    [TestCase("", "\"", "", null)]
    [TestCase("SELECT 1", "\n--'\n", "", "SELECT ?")]
    [TestCase("VALUES (1)", ", (1)", "", "VALUES (?), …")]
    [TestCase("VALUES (", "(", "", null)]
    [TestCase("WHERE a IN (1", ", 2", ")", "WHERE a IN (?, …)")]
    [TestCase("WHERE a IN (1", ", 2", "", null)]
    [TestCase("SELECT 1", " ", ";", "SELECT ? ")]
    public void A_long_statement_is_read_once(string begin, string repeated, string end, string? expected)
    {
        var text = $"{begin}{string.Concat(Enumerable.Repeat(repeated, 1_000_000))}{end}";

        var normal = Task.Run(() => StatementText.Normal(text)).WaitAsync(Eventually.Limit).GetAwaiter().GetResult();

        if (expected is not null)
            Assert.That(normal, Is.EqualTo(expected));
    }

    [TestCase("bare.postgresql.outbox@7:b", ExpectedResult = "bare.postgresql.outbox@7:b")]
    [TestCase("bare.postgresql.outbox@0:b", ExpectedResult = null)]
    [TestCase("bare.postgresql.shared@8:f", ExpectedResult = "bare.postgresql.shared@8:f")]
    [TestCase("bare.postgresql.outbox@7:h", ExpectedResult = null)]
    [TestCase("bare.postgresql.outbox@7", ExpectedResult = null)]
    [TestCase("bare.postgresql.outbox", ExpectedResult = null)]
    [TestCase("@17:b", ExpectedResult = null)]
    [TestCase("a@b@17:b", ExpectedResult = null)]
    public string? A_token_has_one_form(string typed) => PointToken.TryParse(typed)?.ToString();

    [TestCase(PointWay.NeverSent, ExpectedResult = "COMMIT (data, no. 2, after INSERT) never reached the server, and the process was killed")]
    [TestCase(PointWay.Killed, ExpectedResult = "COMMIT (data, no. 2, after INSERT) was executed, its answer withheld, and the process killed")]
    [TestCase(PointWay.Cut, ExpectedResult = "COMMIT (data, no. 2, after INSERT) was executed, its answer withheld, and the connection cut")]
    [TestCase(PointWay.Unanswered, ExpectedResult = "COMMIT (data, no. 2, after INSERT) was executed, and its answer never came")]
    [TestCase(PointWay.ServerCrashedBefore, ExpectedResult = "COMMIT (data, no. 2, after INSERT) never reached the server, which crashed")]
    [TestCase(
        PointWay.ServerCrashedAfter,
        ExpectedResult = "COMMIT (data, no. 2, after INSERT) was executed, its answer withheld, and the server crashed")]
    public string A_moment_has_words(PointWay way) =>
        PointMoment.Of(new CrashPoint(3, new RequestId("data", "COMMIT", "COMMIT", 2, 2), "INSERT", HasAnswer: true, CanBeProved: true), way);

    private static SeenRequest[] PollIn(int transaction) =>
        [.. Transaction(1, transaction, ("BEGIN", "BEGIN"), ("DELETE", "DELETE 0"), ("ROLLBACK", "ROLLBACK"))];

    private static IEnumerable<SeenRequest> Transaction(int connection, int number, params (string Text, string Outcome)[] requests) =>
        requests.Select(request => new SeenRequest(
            "queue",
            request.Text,
            connection,
            new WireRequest(request.Text, hasAnswer: true) { Outcome = request.Outcome, IsAnswered = true, Transaction = number }));
}
