using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>What a sender gives with a message reaches its handler, whatever happens on the way.</summary>
[Parallelizable]
public sealed class HeadersOfAMessage
{
    private static readonly Dictionary<string, string> Sent = new()
    {
        ["tenant"] = "Zürich",
        ["x-priority"] = "",
        [OutgoingMessage.ReplyToHeader] = "third",
    };

    private static IEnumerable<Cell> Cells => Cell.All
        .Where(cell => cell is { Kind.Framework: "bare", IsPlain: true, Access.Name: "ado" })
        .Where(cell => cell.Kind.Transport != TransportName.SqlServer && cell.Support.IsSupported);

    [ModeSource(nameof(Cells))]
    public async Task They_survive_a_failed_attempt_and_those_of_a_send_reach_the_next_endpoint(Cell cell)
    {
        await using var bench = await TwoEndpointsBench.StartAsync(cell, firstFails: cell.Mode.Attempts > 1);

        await bench.SendAsync(Sent);

        Assert.That(await bench.HandledByFirstAsync(), Is.SupersetOf(Sent));
        Assert.That(await bench.HandledBySecondAsync(), Is.SupersetOf(new Dictionary<string, string> { ["tenant"] = "Zürich", ["hop"] = "2" }));
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task They_come_back_with_a_dead_letter(string transport)
    {
        var cell = Cells.Single(cell => cell.Kind.Transport == transport && cell.Mode == TransactionMode.ScopeOff);
        await using var bench = await TwoEndpointsBench.StartAsync(cell, firstFails: false);
        bench.FailNext(cell.Mode.Attempts);
        await bench.SendAsync(Sent);
        await Eventually.HoldsAsync(async () => (await bench.First.ReadErrorsAsync(CancellationToken.None)).Count == 1, "the message is given up");

        await ((IReturningQueue)bench.First).ReturnErrorsAsync(messageIds: null, CancellationToken.None);

        Assert.That(await bench.HandledByFirstAsync(), Is.SupersetOf(Sent));
    }

    [TestCase("")]
    [TestCase("kit-reason")]
    [TestCase("x-death")]
    [TestCase("CC")]
    [TestCase("BCC")]
    public async Task A_name_that_the_endpoint_keeps_for_itself_is_refused(string name)
    {
        var context = new MessageContext(new Npgsql.NpgsqlConnection(), new List<OutgoingMessage>());

        await Assert.ThrowsAsync<ArgumentException>(() => context.SendAsync("any", "text", headers: new Dictionary<string, string> { [name] = "" }));
    }

    [Test]
    public void Headers_up_to_the_limit_are_sent() => Assert.That(async () => await SendAsync(new string('x', 16_378)), Throws.Nothing);

    [Test]
    public void Headers_over_the_limit_are_refused() => Assert.That(
        async () => await SendAsync(new string('x', 16_379)), Throws.ArgumentException.With.Message.StartsWith("The headers have 16385 characters"));

    [Test]
    public void A_name_that_a_broker_cannot_carry_is_refused()
    {
        var name = new Dictionary<string, string> { [new('ü', 128)] = "" };

        Assert.That(() => OutgoingMessage.Create("any", "text") with { Headers = name }, Throws.ArgumentException.With.Message.Contains("at most 255 bytes"));
        Assert.That(() => OutgoingMessage.Create(new string('q', 256), "text"), Throws.ArgumentException.With.Message.Contains("A queue's name"));
        Assert.That(
            () => OutgoingMessage.Create("any", new Dictionary<Dictionary<TwoEndpointsBench.Order, string>, Dictionary<string, TwoEndpointsBench.Order>>()),
            Throws.ArgumentException.With.Message.Contains("The name of a message's type"));
    }

    [Test]
    public void On_RabbitMQ_the_queue_for_a_reply_is_a_property_of_AMQP()
    {
        var message = OutgoingMessage.Create("any", "text") with { Headers = new Dictionary<string, string> { [OutgoingMessage.ReplyToHeader] = "me" } };

        var properties = AmqpMessage.PropertiesOf(message);

        Assert.That(properties.ReplyTo, Is.EqualTo("me"));
        Assert.That(properties.Headers, Is.Null);
        Assert.That(AmqpMessage.HeadersOf(properties), Is.EqualTo(message.Headers));
    }

    [Test]
    public void A_queue_for_a_reply_that_a_broker_cannot_carry_is_refused() => Assert.That(
        () => OutgoingMessage.Create("any", "text") with { Headers = new Dictionary<string, string> { [OutgoingMessage.ReplyToHeader] = new('q', 256) } },
        Throws.ArgumentException.With.Message.StartsWith("The name of the queue for a reply may have at most 255 bytes"));

    [Test]
    public void A_header_without_a_value_is_refused() =>
        Assert.That(async () => await SendAsync(null!), Throws.ArgumentException.With.Message.StartsWith("The header 'tenant' has no value"));

    [Test]
    public void A_message_that_is_put_into_a_queue_by_hand_has_the_same_limits() => Assert.That(
        () => OutgoingMessage.Create("any", "text") with { Headers = new Dictionary<string, string> { ["kit-failed-attempts"] = "2" } },
        Throws.ArgumentException.With.Message.Contains("endpoints and brokers use CC"));

    private static Task SendAsync(string tenant) => new MessageContext(new Npgsql.NpgsqlConnection(), new List<OutgoingMessage>())
        .SendAsync("any", "text", headers: new Dictionary<string, string> { ["tenant"] = tenant });
}
