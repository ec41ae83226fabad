using System.Text;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Rounds;

/// <summary>What the account of a round is told of the messages in the queues that its handlers send to, on real servers.</summary>
[TestFixture("bare", TransportName.PostgreSql)]
[TestFixture("bare", TransportName.RabbitMq)]
[TestFixture("masstransit", TransportName.RabbitMq)]
[TestFixture("rebus", TransportName.PostgreSql)]
[TestFixture("wolverine", TransportName.PostgreSql)]
[Parallelizable]
public sealed class MessagesInASink(string framework, string transport)
{
    private const string Queue = "orders";

    private ITestWidgets databases = null!;
    private TestTransport place = null!;
    private Cell cell = null!;
    private IMessageQueue first = null!;
    private IMessageQueue second = null!;
    private Sinks sinks = null!;
    private RoundMessages messages = null!;

    [SetUp]
    public async Task OpenSinks()
    {
        if (TestTransport.MissingServer(transport) is { } missing)
            Assert.Ignore(missing);
        cell = Cell.All.First(
            cell => cell.Kind.Framework == framework && cell.Kind.Transport == transport && cell.Mode.Name == "dtc-off" && cell.Scenario == Scenario.Route);
        databases = await ITestWidgets.CreateAsync(cell.Kind);
        place = await TestTransport.OpenAsync(cell, databases);
        await using var round = new RoundTransport(Queue, place.Address, place.Address, () => ValueTask.CompletedTask);
        messages = await RoundMessages.OfAsync(cell, Queue, widgets: null!, CancellationToken.None);
        sinks = await Sinks.CreateAsync(cell, round, messages.ExpectedFor, CancellationToken.None);
        first = cell.Kind.OpenQueue($"{Queue}-sink", place.Address);
        second = cell.Kind.OpenQueue($"{Queue}-sink-2", place.Address);
    }

    [TearDown]
    public async Task RemoveSinks()
    {
        if (sinks is not null)
            await sinks.DisposeAsync();
        if (first is not null)
            await first.DisposeAsync();
        if (second is not null)
            await second.DisposeAsync();
        if (place is not null)
            await place.DisposeAsync();
        if (databases is not null)
            await databases.DisposeAsync();
    }

    [Test]
    public async Task Nothing_is_wrong_with_those_that_were_to_arrive()
    {
        var sent = messages.New(20);
        foreach (var message in sent)
            await ArriveAsync(RightFor(message), message.MessageId, message.Document);

        var found = await sinks.ReadAsync(sent, CancellationToken.None);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(found.Select(row => row.CausedBy), Is.EquivalentTo(sent.Select(message => message.MessageId)));
            Assert.That(found.Select(row => row.Mistake), Is.All.Null);
            Assert.That(await first.CountAsync(CancellationToken.None), Is.Positive, "both queues have some");
            Assert.That(await second.CountAsync(CancellationToken.None), Is.Positive, "both queues have some");
        }
    }

    [Test]
    public async Task One_in_the_other_queue_is_wrong()
    {
        var sent = messages.New(1);
        var wrong = RightFor(sent[0]) == first ? second : first;
        await ArriveAsync(wrong, sent[0].MessageId, sent[0].Document);

        Assert.That((await ReadOneAsync(sent)).Mistake, Is.EqualTo($"in {wrong.Name}, expected in {RightFor(sent[0]).Name}"));
    }

    [Test]
    public async Task One_with_another_document_is_wrong()
    {
        var sent = messages.New(1);
        var length = sent[0].Document!.Length;
        await ArriveAsync(RightFor(sent[0]), sent[0].MessageId, sent[0].Document![..100]);

        Assert.That(
            (await ReadOneAsync(sent)).Mistake,
            Is.EqualTo($"its document (100 characters) is not the expected one ({length} characters), from character 101 on"));
    }

    [Test]
    public async Task One_without_a_document_is_wrong()
    {
        var sent = messages.New(1);
        await ArriveAsync(RightFor(sent[0]), sent[0].MessageId, document: null);

        Assert.That((await ReadOneAsync(sent)).Mistake, Does.StartWith("its document (none) is not the expected one ("));
    }

    [Test]
    public async Task One_that_cannot_be_read_is_wrong()
    {
        var sent = messages.New(1);
        var message = OutgoingMessage.Create(first.Name, new WidgetBuilt(sent[0].MessageId), sent[0].MessageId);
        await first.EnqueueAsync([message with { Body = Encoding.UTF8.GetBytes("{ no JSON") }], CancellationToken.None);

        var found = await ReadOneAsync(sent);

        Assert.That(found.CausedBy, Is.EqualTo(sent[0].MessageId));
        Assert.That(found.Mistake, Does.StartWith("its body cannot be read: "));
    }

    [Test]
    public async Task One_that_nobody_caused_is_left_to_the_account()
    {
        var stranger = Guid.CreateVersion7();
        await ArriveAsync(first, stranger, "<order/>");

        Assert.That(await ReadOneAsync([]), Is.EqualTo(new SinkRow(stranger, stranger)));
    }

    private IMessageQueue RightFor(BuildWidget message) => OrderDocument.RegionOf(message.MessageId) == OrderDocument.North ? first : second;

    private async Task<SinkRow> ReadOneAsync(IReadOnlyList<BuildWidget> sent) => (await sinks.ReadAsync(sent, CancellationToken.None)).Single();

    private static Task ArriveAsync(IMessageQueue queue, Guid message, string? document) => queue.EnqueueAsync(
        [OutgoingMessage.Create(queue.Name, new WidgetBuilt(message) { Document = document }, message)], CancellationToken.None);
}
