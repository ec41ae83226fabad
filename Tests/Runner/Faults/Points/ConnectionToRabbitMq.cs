using Kit.Runner.Wire;
using static Kit.Tests.Faults.Points.AmqpFrames;

namespace Kit.Tests.Faults.Points;

/// <summary>What is read of a connection to RabbitMQ, from the bytes of both sides.</summary>
public sealed class ConnectionToRabbitMq
{
    private const ushort Channel = 1;

    private AmqpWire wire = null!;
    private List<WireRequest> asked = [];

    [SetUp]
    public void Connect()
    {
        wire = new AmqpWire();
        asked = [];
        Client([.. Protocol, .. Method(0, 10, 11), .. Method(0, 10, 31), .. Method(0, 10, 40)]);
        Server([.. Method(0, 10, 10), .. Method(0, 10, 30), .. Method(0, 10, 41)]);
        Client(Method(Channel, 20, 10));
        Server(Method(Channel, 20, 11));
        asked.Clear();
    }

    [Test]
    public void Starts_with_one_request()
    {
        wire = new AmqpWire();
        Client([.. Protocol, .. Method(0, 10, 11), .. Method(0, 10, 31), .. Method(0, 10, 40)]);

        Assert.That(asked.Select(request => request.Text), Is.EqualTo(new[] { "connect" }));
        Assert.That(Server([.. Method(0, 10, 10), .. Method(0, 10, 30)]), Is.Empty);
        Assert.That(Server(Method(0, 10, 41)), Is.EqualTo(new[] { "connect → connection.open-ok" }));
    }

    [Test]
    public void Has_one_request_for_a_publish_with_its_content_however_it_comes()
    {
        foreach (var one in Publish(Channel, [1, 2, 3], [4, 5]))
            Client([one]);
        Client(Publish(Channel));

        Assert.That(asked.Select(request => request.Text), Is.EqualTo(new[] { "basic.publish", "basic.publish" }));
    }

    /// <summary>A publish of a metric, which an idle process makes, too, is another request than that of an effect.</summary>
    [TestCase("", "shipments", ExpectedResult = "basic.publish shipments")]
    [TestCase("events", "orders.placed", ExpectedResult = "basic.publish events/orders.placed")]
    [TestCase("events", "", ExpectedResult = "basic.publish events/")]
    [TestCase("", "amq.gen-JzTY20BRgKO", ExpectedResult = "basic.publish amq.gen-?")]
    public string A_publish_is_known_by_its_destination(string exchange, string key)
    {
        Client([.. PublishTo(Channel, exchange, key), .. Publish(Channel, [1])[Method(Channel, 60, 40).Length..]]);

        return asked.Single().Text;
    }

    [Test]
    public void Forwards_every_byte_once()
    {
        byte[] sent = [.. Heartbeat(), .. Publish(Channel, [1, 2, 3], [4]), .. Method(Channel, 60, 70), .. Heartbeat(), .. Ack(Channel, 1)];

        Assert.That(wire.FromClient(sent).SelectMany(unit => unit.Bytes), Is.EqualTo(sent));
    }

    [Test]
    public void Keeps_the_answer_to_a_question_of_the_proxy_from_the_client()
    {
        Client(Ack(Channel, 1));
        Assert.That(wire.Probe(), Is.Not.Empty);
        Assert.That(wire.FromServer(Method(Channel, 20, 21)).SelectMany(frame => frame.Bytes), Is.Empty);

        Client(Method(Channel, 20, 20));
        Assert.That(wire.FromServer(Method(Channel, 20, 21)).SelectMany(frame => frame.Bytes), Is.EqualTo(Method(Channel, 20, 21)));
    }

    [Test]
    public void Takes_a_heartbeat_for_no_request()
    {
        Client(Heartbeat());

        Assert.That(asked, Is.Empty);
        Assert.That(Server(Heartbeat()), Is.Empty);
    }

    [Test]
    public void Answers_publishes_only_on_a_channel_with_confirms()
    {
        Client(Publish(Channel, [1]));
        Client(Method(Channel, 85, 10));
        Server(Method(Channel, 85, 11));
        Client([.. Publish(Channel, [1]), .. Publish(Channel, [2]), .. Publish(Channel, [3])]);

        Assert.That(asked.Select(request => request.HasAnswer), Is.EqualTo(new[] { false, true, true, true, true }));
        Assert.That(Server(Ack(Channel, 2, isMultiple: true)), Is.EqualTo(new[] { "basic.publish → basic.ack", "basic.publish → basic.ack" }));
        Assert.That(Server(Ack(Channel, 3)), Is.EqualTo(new[] { "basic.publish → basic.ack" }));
    }

    [Test]
    public void Refuses_the_publishes_that_the_broker_does_not_take()
    {
        Client(Method(Channel, 85, 10));
        Server(Method(Channel, 85, 11));
        Client([.. Publish(Channel, [1]), .. Publish(Channel, [2]), .. Publish(Channel, [3])]);

        Assert.That(Server(Ack(Channel, 1)), Is.EqualTo(new[] { "basic.publish → basic.ack" }));
        Assert.That(Server(Nack(Channel, 3, isMultiple: true)), Is.EqualTo(new[] { "basic.publish → basic.nack", "basic.publish → basic.nack" }));
    }

    /// <summary>Celery declares and binds its queues so.</summary>
    [TestCase(40, 10, "\0\0|exchange|topic", 4)]
    [TestCase(40, 20, "\0\0|exchange", 1)]
    [TestCase(40, 30, "\0\0|one|other|key", 0)]
    [TestCase(40, 40, "\0\0|one|other|", 0, 51)]
    [TestCase(50, 10, "\0\0|queue", 4)]
    [TestCase(50, 20, "\0\0|queue|exchange|key", 0)]
    [TestCase(50, 30, "\0\0|", 0)]
    [TestCase(50, 40, "\0\0|queue", 2)]
    [TestCase(60, 20, "\0\0|queue|tag", 3)]
    [TestCase(60, 30, "|tag", 0)]
    [TestCase(85, 10, "", 0)]
    public void Proves_a_method_whose_client_wants_no_answer(int kind, int id, string texts, int bit, int? answer = null)
    {
        var parts = texts.Split('|');
        byte[] before = [.. parts[0].Select(one => (byte)one), .. parts[1..].SelectMany(part => part.Select(one => (byte)one).Prepend((byte)part.Length))];

        Client(Method(Channel, (ushort)kind, (ushort)id, [.. before, (byte)~(1 << bit)]));
        Server(Method(Channel, (ushort)kind, (ushort)(answer ?? id + 1)));
        Client(Method(Channel, (ushort)kind, (ushort)id, [.. before, (byte)(1 << bit)]));

        Assert.That(asked.Select(request => (request.HasAnswer, request.CanBeProved)), Is.EqualTo([(true, true), (false, true)]));
        Assert.That(wire.IsSettled, Is.False);
        Assert.That(wire.Probe(), Is.Not.Empty);
        Server(Method(Channel, 20, 21, 1));
        Assert.That(wire.IsSettled);
    }

    [Test]
    public void Encrypted_passes_unread()
    {
        wire = new AmqpWire();
        byte[] hello = [0x16, 3, 1, 0, 200, 1, 0, 0, 196];

        Assert.That(wire.FromClient(hello).Single(), Has.Property("Request").Null.And.Property("Bytes").EqualTo(hello));
        Assert.That(wire.IsUnreadable);
    }

    [Test]
    public void Has_a_transaction_for_each_request_and_for_its_start()
    {
        var first = new AmqpWire().FromClient(Protocol).Single().Request!.Transaction;
        Client([.. Ack(Channel, 1), .. Ack(Channel, 2)]);

        Assert.That(asked.Select(request => request.Transaction).Append(first), Is.Unique);
    }

    [Test]
    public void Proves_an_acknowledgement_by_a_later_answer_on_its_channel()
    {
        Client(Ack(Channel, 7));
        Assert.That(wire.IsSettled, Is.False);

        Assert.That(wire.Probe(), Is.EqualTo(Method(Channel, 20, 20, 1)));
        Assert.That(Server(Method(Channel, 20, 21, 1)), Is.EqualTo(new[] { "basic.ack → " }));
        Assert.That(wire.IsSettled);
        Assert.That(wire.Probe(), Is.Empty);
    }

    [Test]
    public void Answers_a_get_when_the_whole_message_is_there_or_none()
    {
        Client([.. Method(Channel, 60, 70), .. Method(Channel, 60, 70)]);
        var whole = GetOk(Channel, [1, 2], [3]);

        Assert.That(Server(whole[..^1]), Is.Empty);
        Assert.That(Server(whole[^1..]), Is.EqualTo(new[] { "basic.get → basic.get-ok" }));
        Assert.That(Server(Method(Channel, 60, 72, 0)), Is.EqualTo(new[] { "basic.get → basic.get-empty" }));
    }

    [Test]
    public void Takes_a_delivery_for_no_answer()
    {
        Client(Method(Channel, 60, 70));

        Assert.That(Server(Deliver(Channel, [1, 2])), Is.Empty);
    }

    [Test]
    public void Has_a_session_for_each_open_channel()
    {
        Client([.. Method(2, 20, 10), .. Method(3, 20, 10)]);
        Server([.. Method(2, 20, 11), .. Method(3, 20, 11)]);
        var open = wire.Sessions;
        Client(Method(2, 20, 40));
        Server([.. Method(2, 20, 41), .. Method(3, 20, 40)]);
        var closed = wire.Sessions;
        Server(Method(0, 10, 50));

        Assert.That((open, closed, wire.Sessions), Is.EqualTo((3, 1, 1)), "a connection without a channel counts, too");
    }

    [Test]
    public void Answers_nothing_more_on_a_channel_that_the_broker_has_closed()
    {
        Client([.. Method(Channel, 50, 10), .. Ack(Channel, 1)]);

        Assert.That(Server(Method(Channel, 20, 40)), Is.EqualTo(new[] { "queue.declare → channel.close", "basic.ack → channel.close" }));
        Assert.That(wire.IsSettled);
    }

    [Test]
    public void Answers_an_acknowledgement_by_the_answer_to_its_client_that_closes_the_channel()
    {
        Client([.. Ack(Channel, 1), .. Method(Channel, 20, 40)]);
        Assert.That(wire.Probe(), Is.Empty, "the broker closes a connection that asks anything on a closed channel");

        Assert.That(Server(Method(Channel, 20, 41)), Is.EqualTo(new[] { "basic.ack → ", "channel.close → channel.close-ok" }));
        Client([.. Method(Channel, 20, 10), .. Ack(Channel, 1)]);
        Assert.That(wire.Probe(), Is.Not.Empty, "it is open again");
    }

    [Test]
    public void Proves_a_recovery_that_has_no_answer()
    {
        Client(Method(Channel, 60, 100, 1));

        Assert.That(asked.Select(request => (request.Text, request.HasAnswer, request.CanBeProved)), Is.EqualTo([("basic.recover-async", false, true)]));
    }

    private void Client(byte[] bytes)
    {
        foreach (var unit in wire.FromClient(bytes))
        {
            unit.Sent?.Invoke();
            if (unit.Request is { } request)
                asked.Add(request);
        }
    }

    private string[] Server(byte[] bytes) =>
        [.. wire.FromServer(bytes).SelectMany(frame => frame.Completed).Select(request => $"{request.Text} → {request.Outcome}")];
}
