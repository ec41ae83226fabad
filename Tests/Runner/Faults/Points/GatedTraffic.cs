using System.Text;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using static Kit.Tests.Faults.Points.PostgreSqlFrames;

namespace Kit.Tests.Faults.Points;

/// <summary>What passes at a point, in each way, and what does not.</summary>
[Parallelizable]
public sealed class GatedTraffic
{
    private RequestGate gate = null!;
    private Side one = null!;
    private Side other = null!;

    [SetUp]
    public void ConnectTwice()
    {
        gate = new RequestGate();
        one = new Side(gate);
        other = new Side(gate);
    }

    [TestCase(PointWay.NeverSent, "BEGIN|INSERT|", "BEGIN|INSERT|", TestName = "Never sent, the request stops, and all before it was answered")]
    [TestCase(PointWay.Killed, "BEGIN|INSERT|COMMIT|", "BEGIN|INSERT|", TestName = "Killed, the request has passed, and its answer has not")]
    public async Task Frozen_nothing_passes_any_more(PointWay way, string sent, string received)
    {
        Arm("COMMIT", "COMMIT", way, "BEGIN", "INSERT");
        one.Ask("BEGIN", 'T');
        one.Ask("INSERT", 'T');
        one.Client(Query("COMMIT"));
        one.Server([.. Complete("COMMIT"), .. Ready()]);
        other.Ask("SELECT");

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(one.Sent, Is.EqualTo(sent));
        Assert.That(one.Received, Is.EqualTo(received));
        Assert.That((other.Sent, other.Received), Is.EqualTo(("", "")));
    }

    [TestCase(PointWay.Cut, true)]
    [TestCase(PointWay.Unanswered, false)]
    [TestCase(PointWay.ServerCrashedAfter, false)]
    public async Task Without_a_kill_other_connections_go_on(PointWay way, bool isCut)
    {
        Arm("COMMIT", "COMMIT", way);
        one.Ask("COMMIT");
        other.Ask("SELECT");

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That((one.Sent, one.Received, one.IsCut), Is.EqualTo(("COMMIT|", "", isCut)));
        Assert.That((other.Sent, other.Received), Is.EqualTo(("SELECT|", "SELECT|")));
    }

    [Test]
    public async Task Held_back_for_a_crash_of_the_server_nothing_more_passes_on_its_connection()
    {
        Arm("COMMIT", "COMMIT", PointWay.ServerCrashedBefore, "INSERT");
        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);
        Assert.That(one.Sent, Is.EqualTo("INSERT|flush|"), "the statement before is executed, and the end of the batch is not sent");
        Assert.That(gate.Fired.IsCompleted, Is.False);

        one.Server(Complete("INSERT"));
        await gate.Fired.WaitAsync(Eventually.Limit);
        other.Ask("SELECT");
        one.Client(Query("ROLLBACK"));
        Assert.That((one.Sent, one.Received), Is.EqualTo(("INSERT|flush|", "INSERT|")));
        Assert.That((other.Sent, other.Received, gate.IsFrozen), Is.EqualTo(("SELECT|", "SELECT|", false)));
    }

    [Test]
    public async Task Cut_before_a_request_the_statements_before_it_are_executed()
    {
        Arm("COMMIT", "COMMIT", PointWay.CutBefore, "INSERT");
        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);
        Assert.That((one.Sent, one.IsCut), Is.EqualTo(("INSERT|flush|", false)));

        one.Server(Complete("INSERT"));
        await gate.Fired.WaitAsync(Eventually.Limit);
        other.Ask("SELECT");
        Assert.That((one.Sent, one.Received, one.IsCut), Is.EqualTo(("INSERT|flush|", "INSERT|", true)));
        Assert.That((other.Sent, other.Received, gate.IsFrozen), Is.EqualTo(("SELECT|", "SELECT|", false)));
    }

    [TestCase(PointWay.CutBefore)]
    [TestCase(PointWay.NeverSent)]
    public async Task A_request_that_was_never_sent_belongs_to_the_transaction_that_was_open_then(PointWay way)
    {
        Arm("COMMIT", "COMMIT", way, "BEGIN", "INSERT");
        one.Ask("BEGIN", 'T');
        one.Ask("INSERT", 'T');
        one.Client(Query("COMMIT"));

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(gate.Passed.Select(seen => seen.Text), Is.EqualTo(new[] { "BEGIN", "INSERT", "COMMIT" }));
    }

    /// <summary>It can wait for a lock of the connection that is to be cut.</summary>
    [Test]
    public async Task While_a_server_has_not_acted_nothing_is_cut_for_some_seconds()
    {
        Arm("COMMIT", "COMMIT", PointWay.CutBefore);
        other.Client(Query("SELECT"));
        one.Client(Query("COMMIT"));
        Assert.That((gate.IsHoldingBack, one.IsCut), Is.EqualTo((true, false)));

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That((gate.IsHoldingBack, one.IsCut, gate.WhyNotMet), Is.EqualTo((false, true, (string?)null)));
    }

    [Test]
    public async Task While_a_server_has_not_acted_it_is_not_crashed()
    {
        Arm("COMMIT", "COMMIT", PointWay.ServerCrashedBefore);
        other.Client(Query("SELECT"));
        one.Client(Query("COMMIT"));

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(gate.IsHoldingBack, "the experiment shows nothing");
    }

    [Test]
    public async Task What_waits_for_the_proof_of_an_acknowledgement_waits_for_the_crash_of_its_broker()
    {
        const ushort Channel = 1;
        var broker = ConnectToBroker();
        ArmAcknowledgement(PointWay.ServerCrashedAfter);

        broker.See(Traffic.ToServer, AmqpFrames.Ack(Channel, 1));
        one.Client(Query("BEGIN"));
        broker.See(Traffic.ToClient, AmqpFrames.Method(Channel, 20, 21, 1));
        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(one.Sent, Is.Empty);

        broker.End();
        Assert.That(one.Sent, Is.EqualTo("BEGIN|"));
    }

    [Test]
    public async Task A_connection_that_starts_is_authenticated_before_its_answer_is_withheld()
    {
        Arm("connect", "ready", PointWay.Killed);
        var third = new Side(gate, starts: false);
        third.Client(Startup());
        third.Server(AskForPassword());
        third.Client(Password());
        Assert.That((third.SentBytes, third.ReceivedBytes), Is.EqualTo((Startup().Length + Password().Length, AskForPassword().Length)));

        third.Server(Welcome());
        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(third.ReceivedBytes, Is.EqualTo(AskForPassword().Length));
    }

    [Test]
    public async Task Within_a_batch_the_statements_after_the_point_do_not_pass()
    {
        Arm("COMMIT", "COMMIT", PointWay.Killed, "INSERT");

        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Statement("BEGIN"), .. Sync()]);
        Assert.That(one.Sent, Is.EqualTo("INSERT|COMMIT|flush|"));
        Assert.That(gate.Fired.IsCompleted, Is.False);

        one.Server([.. Complete("INSERT"), .. Complete("COMMIT")]);
        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(one.Received, Is.EqualTo("INSERT|"));
    }

    [Test]
    public async Task Never_sent_waits_until_the_statements_before_it_are_executed()
    {
        Arm("COMMIT", "COMMIT", PointWay.NeverSent, "INSERT");

        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);
        Assert.That(one.Sent, Is.EqualTo("INSERT|flush|"));
        Assert.That(gate.Fired.IsCompleted, Is.False);

        one.Server(Complete("INSERT"));
        await gate.Fired.WaitAsync(Eventually.Limit);
    }

    [Test]
    public void Another_outcome_is_another_request_and_passes_with_what_waited_behind_it()
    {
        Arm("DELETE", "DELETE 1", PointWay.Killed);

        one.Client([.. Statement("DELETE"), .. Statement("COMMIT"), .. Sync()]);
        one.Server(Complete("DELETE 0"));
        Assert.That(one.Sent, Is.EqualTo("DELETE|flush|COMMIT|sync|"));
        one.Server([.. Complete("COMMIT"), .. Ready()]);

        Assert.That(one.Received, Is.EqualTo("DELETE 0|COMMIT|"));
        Assert.That((gate.IsFrozen, gate.PassedBecause), Is.EqualTo((false, "it was answered 'DELETE 0', and not 'DELETE 1' as recorded")));
    }

    [Test]
    public void A_transaction_that_was_open_when_counting_began_is_not_counted()
    {
        one.Ask("BEGIN", 'T');
        gate.Record();
        one.Ask("ROLLBACK");
        one.Ask("SELECT");

        Assert.That(gate.Release().Select(seen => seen.Text), Is.EqualTo(new[] { "SELECT" }));
    }

    [Test]
    public void A_transaction_that_is_open_at_the_end_is_left_out()
    {
        gate.Record();
        one.Ask("SELECT");
        other.Ask("BEGIN", 'T');

        Assert.That(gate.Release().Select(seen => seen.Text), Is.EqualTo(new[] { "SELECT" }));
    }

    [TestCase(PointWay.Killed, "")]
    [TestCase(PointWay.Cut, "BEGIN|INSERT|")]
    public async Task What_a_client_asks_elsewhere_waits_until_an_acknowledgement_is_proved(PointWay way, string sent)
    {
        const ushort Channel = 1;
        var broker = ConnectToBroker();
        ArmAcknowledgement(way);

        broker.See(Traffic.ToServer, AmqpFrames.Ack(Channel, 1));
        one.Client(Query("BEGIN"));
        one.Client(Query("INSERT"));
        Assert.That(one.Sent, Is.Empty);

        broker.See(Traffic.ToClient, AmqpFrames.Method(Channel, 20, 21, 1));
        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(one.Sent, Is.EqualTo(sent));
        Assert.That(gate.Passed.Select(seen => seen.Text), Is.EqualTo(new[] { "basic.ack" }));
    }

    [Test]
    public void What_waited_for_another_acknowledgement_goes_on()
    {
        const ushort Channel = 1;
        var broker = ConnectToBroker();
        ArmAcknowledgement(PointWay.Killed, number: 2);

        broker.See(Traffic.ToServer, AmqpFrames.Ack(Channel, 1));
        one.Client(Query("BEGIN"));
        broker.See(Traffic.ToClient, AmqpFrames.Method(Channel, 20, 21, 1));
        Assert.That(one.Sent, Is.EqualTo("BEGIN|"));

        broker.See(Traffic.ToServer, AmqpFrames.Ack(Channel, 2));
        other.Client(Query("SELECT"));
        Assert.That(other.Sent, Is.Empty);
        broker.End();
        Assert.That(other.Sent, Is.EqualTo("SELECT|"));
    }

    [TestCase(PointWay.NeverSent)]
    [TestCase(PointWay.Killed)]
    public async Task A_poll_with_the_same_statement_passes_because_of_what_was_before(PointWay way)
    {
        Arm("COMMIT", "COMMIT", way, "BEGIN", "INSERT");
        other.Ask("SELECT 1");
        other.Ask("BEGIN", 'T');
        other.Ask("COMMIT");
        Assert.That((gate.IsFrozen, gate.PassedBecause), Is.EqualTo((false, "it was request 2 of its transaction, and not request 3")));

        one.Ask("BEGIN", 'T');
        one.Ask("INSERT", 'T');
        one.Ask("COMMIT");
        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That((other.Received, one.Received), Is.EqualTo(("SELECT 1|BEGIN|COMMIT|", "BEGIN|INSERT|")));
    }

    [TestCase(PointWay.NeverSent)]
    [TestCase(PointWay.Killed)]
    [TestCase(PointWay.Cut)]
    [TestCase(PointWay.CutBefore)]
    public async Task A_poll_with_the_same_statements_passes_because_of_their_answers(PointWay way)
    {
        var points = Record(() => Take(one, "DELETE 1"));
        gate.Arm(new MetMoment(points.Single(point => point.Request.Text is "COMMIT"), points), way);
        Take(other, "DELETE 0");
        Assert.That((other.Received, gate.PassedBecause), Is.EqualTo((
            "BEGIN|DELETE 0|COMMIT|", "DELETE before it was answered 'DELETE 0', and not 'DELETE 1' as recorded")));

        Take(other, "DELETE 1");
        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(other.Received, Is.EqualTo("BEGIN|DELETE 0|COMMIT|BEGIN|DELETE 1|"));
    }

    /// <summary>What was under way at that moment counts as if it had the recorded answer, until it has another one.</summary>
    [TestCase("INSERT", null)]
    [TestCase("INSERT 0 0", "the handling had not come to point 1 yet")]
    [TestCase("error", "the handling had not come to point 1 yet")]
    public void A_moment_is_judged_again_when_what_was_under_way_is_answered(string answer, string? because)
    {
        var points = Record(() =>
        {
            one.Ask("INSERT");
            other.Ask("SELECT");
        });
        gate.Arm(new MetMoment(points[1], points), PointWay.Killed);
        one.Client(Query("INSERT"));
        other.Ask("SELECT");
        Assert.That((gate.IsFrozen, gate.WhyNotMet), Is.EqualTo((true, (string?)null)));

        one.Server([.. answer is "error" ? Error("57P01") : Complete(answer), .. Ready()]);
        Assert.That(gate.WhyNotMet, Is.EqualTo(because));
    }

    [Test]
    public void An_acknowledgement_that_the_broker_refuses_was_not_executed()
    {
        const ushort Channel = 1;
        var broker = ConnectToBroker();
        ArmAcknowledgement(PointWay.Killed);

        broker.See(Traffic.ToServer, AmqpFrames.Ack(Channel, 1));
        broker.See(Traffic.ToClient, AmqpFrames.Method(Channel, 20, 40));

        Assert.That((gate.IsFrozen, gate.IsProving), Is.EqualTo((false, false)));
    }

    [Test]
    public void An_error_in_a_batch_that_waits_for_the_answers_lets_the_rest_pass()
    {
        Arm("COMMIT", "COMMIT", PointWay.NeverSent, "INSERT");
        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);
        Assert.That(one.Sent, Is.EqualTo("INSERT|flush|"));

        one.Server(Error("23505"));
        Assert.That((one.Sent, gate.IsFrozen), Is.EqualTo(("INSERT|flush|COMMIT|sync|", false)));
        one.Server(Ready());
        Assert.That(gate.Passed.Select(seen => seen.Request.Outcome), Is.EqualTo(new[] { "error 23505", "skipped" }));
    }

    [Test]
    public void What_is_no_frame_cuts_its_connection_and_fails_the_experiment()
    {
        Assert.That(gate.ThrowIfFailed, Throws.Nothing);
        one.Client([(byte)'Q', 0xFF, 0xFF, 0xFF, 0xFF, 0]);

        Assert.That(one.IsCut);
        Assert.That(gate.ThrowIfFailed, Throws.TypeOf<KitException>().With.Message.Contains("connection to 'data'"));
    }

    /// <summary>In one batch, what was before is known only when it is answered.</summary>
    [TestCase("DELETE", true)]
    [TestCase("DELETE 0", false)]
    public void A_request_that_must_not_be_sent_waits_for_the_answers_before_it(string deleted, bool isMet)
    {
        Arm("COMMIT", "COMMIT", PointWay.NeverSent, "BEGIN", "DELETE");
        one.Client([.. Statement("BEGIN"), .. Statement("DELETE"), .. Statement("COMMIT"), .. Sync()]);
        Assert.That(one.Sent, Is.EqualTo("BEGIN|DELETE|flush|"));

        one.Server([.. Complete("BEGIN"), .. Complete(deleted)]);
        Assert.That((one.Sent, gate.IsFrozen), Is.EqualTo((isMet ? "BEGIN|DELETE|flush|" : "BEGIN|DELETE|flush|COMMIT|sync|", isMet)));
    }

    /// <summary>As two publishes to a broker: each is a transaction of its own, and has nothing before it.</summary>
    [TestCase("INSERT", "INSERT", "the handling had not come to point 1 yet")]
    [TestCase("SELECT INSERT", "INSERT", null)]
    [TestCase("INSERT SELECT", "SELECT", "the handling had come to point 2 before")]
    [TestCase("SELECT", "SELECT", null)]
    public void A_moment_has_its_place_in_the_handling(string asked, string met, string? because)
    {
        var points = Record(() =>
        {
            one.Ask("SELECT");
            one.Ask("INSERT");
        });
        var point = points.Single(point => point.Request.Text == met);

        Assert.That(BecauseOf(points), Is.EqualTo(because));
        Assert.That(BecauseOf([.. points.Select(other => other with { Unordered = [1, 2] })]), Is.Null, "one recorded handling had them in another order");
        Assert.That(
            BecauseOf([.. points.Select(other => other with { IsPolled = true })]),
            Is.EqualTo(because is "the handling had come to point 2 before" ? null : because),
            "a poll makes the later request, too");

        string? BecauseOf(IReadOnlyList<CrashPoint> all)
        {
            other = new Side(gate);
            gate.Arm(new MetMoment(all[point.Number - 1], all), PointWay.Killed);
            foreach (var text in asked.Split(' '))
                other.Ask(text);
            Assert.That(gate.IsFrozen, Is.EqualTo(gate.PassedBecause is null));
            gate.Release();
            return gate.PassedBecause;
        }
    }

    /// <summary>Of one transaction, two can be under way when another connection comes to its point.</summary>
    [Test]
    public void Requests_of_one_batch_that_are_under_way_count_as_recorded()
    {
        var points = Record(() =>
        {
            one.Client([.. Statement("INSERT"), .. Statement("UPDATE"), .. Sync()]);
            one.Server([.. Complete("INSERT"), .. Complete("UPDATE"), .. Ready()]);
            other.Ask("SELECT");
        });

        gate.Arm(new MetMoment(points[^1], points), PointWay.Killed);
        one.Client([.. Statement("INSERT"), .. Statement("UPDATE"), .. Sync()]);
        other.Ask("SELECT");

        Assert.That((gate.IsFrozen, gate.PassedBecause), Is.EqualTo((true, (string?)null)));
    }

    [TestCase("BEGIN,INSERT", "it was request 3 of its transaction, and not request 2")]
    [TestCase("INSERT", "before it was INSERT, and not BEGIN")]
    [TestCase("BEGIN=other", "BEGIN before it was answered 'other', and not 'BEGIN' as recorded")]
    public void What_is_not_the_point_says_why(string before, string because)
    {
        Arm("COMMIT", "COMMIT", PointWay.Killed, "BEGIN");
        foreach (var asked in before.Split(','))
            one.Ask(asked.Split('=')[0], 'T', asked.Split('=')[^1]);
        one.Ask("COMMIT");

        Assert.That((gate.IsFrozen, gate.PassedBecause), Is.EqualTo((false, because)));
    }

    private IReadOnlyList<CrashPoint> Record(Action handling)
    {
        gate.Record();
        handling();
        return Handling.PointsOf([Handling.Of(gate.Release(), new HashSet<string>())]);
    }

    private static void Take(Side side, string deleted)
    {
        side.Ask("BEGIN", 'T');
        side.Ask("DELETE", 'T', deleted);
        side.Ask("COMMIT");
    }

    private IConnectionFilter ConnectToBroker()
    {
        var broker = gate.Open("broker", new AmqpWire(), new ConnectionSides(_ => { }, _ => { }, () => { }));
        byte[][] fromClient = [AmqpFrames.Protocol, AmqpFrames.Method(0, 10, 11), AmqpFrames.Method(0, 10, 31), AmqpFrames.Method(0, 10, 40)];
        byte[][] fromServer = [AmqpFrames.Method(0, 10, 10), AmqpFrames.Method(0, 10, 30), AmqpFrames.Method(0, 10, 41)];
        broker.See(Traffic.ToServer, fromClient.SelectMany(frame => frame).ToArray());
        broker.See(Traffic.ToClient, fromServer.SelectMany(frame => frame).ToArray());
        return broker;
    }

    /// <param name="text">The request.</param>
    /// <param name="outcome">Its answer.</param>
    /// <param name="way">What happens there.</param>
    /// <param name="before">What was asked before it in its transaction, each with its text as its answer.</param>
    private void Arm(string text, string outcome, PointWay way, params IReadOnlyList<string> before)
    {
        List<CrashPoint> points =
        [
            .. before.Append(text).Select((one, at) => new CrashPoint(
                at + 1, new RequestId("data", one, at < before.Count ? one : outcome, Sent: 1, Answered: 1), at == 0 ? null : before[at - 1], HasAnswer: true,
                CanBeProved: true)
            { Leading = [.. Enumerable.Range(1, at)], Place = at + 1 }),
        ];
        gate.Arm(new MetMoment(points[^1], points), way);
    }

    /// <summary>The second of two acknowledgements has the first before it, of another message.</summary>
    private void ArmAcknowledgement(PointWay way, int number = 1)
    {
        List<CrashPoint> points =
        [
            .. Enumerable.Range(1, number).Select(each => new CrashPoint(
                each, new RequestId("broker", "basic.ack", Outcome: null, each, each), Before: null, HasAnswer: false, CanBeProved: true)),
        ];
        gate.Arm(new MetMoment(points[^1], points), way);
    }

    /// <summary>A client and a server with a gate between them, and what each has got.</summary>
    private sealed class Side
    {
        private readonly IConnectionFilter filter;
        private readonly List<byte> sent = [];
        private readonly List<byte> received = [];

        public Side(RequestGate gate, bool starts = true)
        {
            filter = gate.Open("data", new PostgreSqlWire(), new ConnectionSides(sent.AddRange, received.AddRange, () => IsCut = true));
            if (!starts)
                return;

            Client(Startup());
            Server(Welcome());
            sent.Clear();
            received.Clear();
        }

        public bool IsCut { get; private set; }

        public int SentBytes => sent.Count;

        public int ReceivedBytes => received.Count;

        /// <summary>The statements that the server has got.</summary>
        public string Sent => Frames(sent, (type, body) => type switch
        {
            'Q' => body.TrimEnd('\0'),
            'P' => body.Trim('\0'),
            'H' => "flush",
            'S' => "sync",
            _ => null,
        });

        /// <summary>The tags that the client has got.</summary>
        public string Received => Frames(received, (type, body) => type is 'C' ? body.TrimEnd('\0') : null);

        public void Client(byte[] bytes) => filter.See(Traffic.ToServer, bytes);

        public void Server(byte[] bytes) => filter.See(Traffic.ToClient, bytes);

        public void End() => filter.End();

        /// <summary>A query and its answer; without another outcome, that is its text.</summary>
        public void Ask(string text, char status = 'I', string? outcome = null)
        {
            Client(Query(text));
            Server([.. Complete(outcome ?? text), .. Ready(status)]);
        }

        private static string Frames(List<byte> bytes, Func<char, string, string?> name)
        {
            var text = new StringBuilder();
            for (var at = 0; at < bytes.Count;)
            {
                var length = (bytes[at + 3] << 8) + bytes[at + 4];
                var body = Encoding.ASCII.GetString([.. bytes.Skip(at + 5).Take(length - 4)]);
                if (name((char)bytes[at], body) is { } named)
                    text.Append(named).Append('|');
                at += 1 + length;
            }

            return text.ToString();
        }
    }
}
