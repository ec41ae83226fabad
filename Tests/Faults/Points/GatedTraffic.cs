using System.Text;
using Kit.Runner.Faults;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Faults;
using static Kit.Tests.Faults.Points.PostgreSqlFrames;

namespace Kit.Tests.Faults.Points;

/// <summary>What passes at a point, in each way, and what does not.</summary>
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
        Arm("COMMIT", "COMMIT", way);
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
        Arm("COMMIT", "COMMIT", PointWay.ServerCrashedBefore);
        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);
        Assert.That(one.Sent, Is.EqualTo("INSERT|flush|"), "the statement before is executed, and the end of the batch is not sent");
        Assert.That(gate.Fired.IsCompleted, Is.False);

        one.Server(Complete("INSERT"));
        await gate.Fired.WaitAsync(Eventually.Limit);
        other.Ask("SELECT");
        one.Client(Query("ROLLBACK"));
        Assert.That((one.Sent, one.Received), Is.EqualTo(("INSERT|flush|", "")));
        Assert.That((other.Sent, other.Received, gate.IsFrozen), Is.EqualTo(("SELECT|", "SELECT|", false)));
    }

    [Test]
    public async Task Cut_before_a_request_the_statements_before_it_are_executed()
    {
        Arm("COMMIT", "COMMIT", PointWay.CutBefore);
        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);
        Assert.That((one.Sent, one.IsCut), Is.EqualTo(("INSERT|flush|", false)));

        one.Server(Complete("INSERT"));
        await gate.Fired.WaitAsync(Eventually.Limit);
        other.Ask("SELECT");
        Assert.That((one.Sent, one.Received, one.IsCut), Is.EqualTo(("INSERT|flush|", "", true)));
        Assert.That((other.Sent, other.Received, gate.IsFrozen), Is.EqualTo(("SELECT|", "SELECT|", false)));
    }

    /// <summary>The connection is gone by then, and with it what it had open.</summary>
    [TestCase(PointWay.CutBefore)]
    [TestCase(PointWay.NeverSent)]
    public async Task A_request_that_was_never_sent_belongs_to_the_transaction_that_was_open_then(PointWay way)
    {
        Arm("COMMIT", "COMMIT", way);
        one.Ask("BEGIN", 'T');
        one.Ask("INSERT", 'T');
        one.Client(Query("COMMIT"));
        await gate.Fired.WaitAsync(Eventually.Limit);
        one.End();

        Assert.That(gate.BeforeLast, Is.EqualTo("INSERT"));
    }

    [Test]
    public async Task While_a_server_has_not_acted_nothing_is_cut()
    {
        Arm("COMMIT", "COMMIT", PointWay.CutBefore);
        one.Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That((gate.IsHoldingBack, one.IsCut), Is.EqualTo((true, false)), "the experiment shows nothing");
    }

    [Test]
    public async Task What_waits_for_the_proof_of_an_acknowledgement_waits_for_the_crash_of_its_broker()
    {
        const ushort Channel = 1;
        var broker = ConnectToBroker();
        gate.Arm(new RequestId("broker", "basic.ack", Outcome: null, Sent: 1, Answered: 1), PointWay.ServerCrashedAfter);

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
        Arm("COMMIT", "COMMIT", PointWay.Killed);

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
        Arm("COMMIT", "COMMIT", PointWay.NeverSent);

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
        Assert.That(gate.IsFrozen, Is.False);
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
        gate.Arm(new RequestId("broker", "basic.ack", Outcome: null, Sent: 1, Answered: 1), way);

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
        gate.Arm(new RequestId("broker", "basic.ack", Outcome: null, Sent: 2, Answered: 2), PointWay.Killed);

        broker.See(Traffic.ToServer, AmqpFrames.Ack(Channel, 1));
        one.Client(Query("BEGIN"));
        broker.See(Traffic.ToClient, AmqpFrames.Method(Channel, 20, 21, 1));
        Assert.That(one.Sent, Is.EqualTo("BEGIN|"));

        broker.See(Traffic.ToServer, AmqpFrames.Ack(Channel, 2));
        other.Client(Query("SELECT"));
        broker.End();
        Assert.That(other.Sent, Is.EqualTo("SELECT|"));
    }

    [TestCase(PointWay.NeverSent)]
    [TestCase(PointWay.Killed)]
    public async Task A_poll_with_the_same_statement_is_told_from_the_handling_by_what_was_before(PointWay way)
    {
        Arm("COMMIT", "COMMIT", way);
        one.Ask("SELECT 1");
        one.Ask("BEGIN", 'T');
        one.Ask("INSERT", 'T');
        one.Client(Query("COMMIT"));
        if (way is PointWay.Killed)
            one.Server([.. Complete("COMMIT"), .. Ready()]);

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(gate.BeforeLast, Is.EqualTo("INSERT"));

        gate.Release();
        Arm("BEGIN", "BEGIN", way);
        other.Ask("SELECT 1");
        other.Ask("BEGIN", 'T');

        await gate.Fired.WaitAsync(Eventually.Limit);
        Assert.That(gate.BeforeLast, Is.Null);
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

    private void Arm(string text, string outcome, PointWay way) => gate.Arm(new RequestId("data", text, outcome, Sent: 1, Answered: 1), way);

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

        /// <summary>A query and its answer.</summary>
        public void Ask(string text, char status = 'I')
        {
            Client(Query(text));
            Server([.. Complete(text), .. Ready(status)]);
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
