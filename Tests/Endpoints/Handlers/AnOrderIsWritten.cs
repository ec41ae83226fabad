using System.Data.Common;
using System.Text.Json;
using System.Xml.Linq;
using Kit.Endpoints.Cells;
using Kit.Handlers;

namespace Kit.Tests.Handlers;

/// <summary>The document of the scenarios that forward one, and the messages with it.</summary>
[Parallelizable]
public sealed class AnOrderIsWritten
{
    private static IEnumerable<Scenario> WithDocuments => Scenario.All.Where(scenario => scenario.Document is not null);

    [Test]
    public void Without_a_size_it_has_about_500_characters() => Assert.That(OrderDocument.Of(Guid.NewGuid(), length: null), Has.Length.InRange(450, 512));

    [TestCase(512)]
    [TestCase(1_024)]
    [TestCase(51_200)]
    public void With_a_size_it_has_just_that(int length)
    {
        var order = OrderDocument.Of(Guid.NewGuid(), length);

        Assert.That(order, Has.Length.EqualTo(length));
        Assert.That(XElement.Parse(order).Elements("lines").Elements("line").Count(), Is.EqualTo(4));
    }

    [Test]
    public void About_half_of_them_are_of_each_region()
    {
        var regions = Enumerable.Range(0, 1_000)
            .Select(_ => Guid.CreateVersion7())
            .CountBy(id => XElement.Parse(OrderDocument.Of(id, length: null)).Attribute("region")!.Value)
            .ToDictionary(region => region.Key, region => region.Value);

        Assert.That(regions.Keys, Is.EquivalentTo([OrderDocument.North, OrderDocument.South]));
        Assert.That(regions.Values, Is.All.InRange(400, 600));
    }

    [TestCaseSource(nameof(WithDocuments))]
    public void Messages_of_a_cell_have_it_in_every_size(Scenario scenario)
    {
        var cells = Cell.All.Where(cell => cell.Scenario == scenario && cell.Reuse == Reuse.Static
            && cell is { Kind: { Framework: "bare", Transport: "postgresql" }, Mode.Name: "dtc-off" });
        using (Assert.EnterMultipleScope())
        {
            Assert.That(cells.Select(cell => cell.Size), Is.EquivalentTo(MessageSize.All));
            foreach (var cell in cells)
            {
                var message = cell.NewMessage();
                Assert.That(message.Document, Is.EqualTo(OrderDocument.Of(message.MessageId, cell.Size.Letters)), cell.Name);
                Assert.That(message.Padding, Is.Null, cell.Name);
            }
        }
    }

    [Test]
    public void Messages_of_other_scenarios_are_as_they_were()
    {
        var id = Guid.NewGuid();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(JsonSerializer.Serialize(new BuildWidget(id)), Is.EqualTo($$"""{"MessageId":"{{id}}"}"""));
            Assert.That(JsonSerializer.Serialize(new WidgetBuilt(id)), Is.EqualTo($$"""{"MessageId":"{{id}}"}"""));
        }
    }

    [TestCase("<order region=\"east\"/>", "found 'east'")]
    [TestCase("<order/>", "found ''")]
    public void One_that_no_queue_takes_is_refused_with_its_region(string order, string found) => Assert.That(
        () => new OrderRouter("a", "b").RouteAsync(new BuildWidget(Guid.NewGuid()) { Document = order }, new Nowhere(), CancellationToken.None),
        Throws.InvalidOperationException.With.Message.Contains("'north' or 'south'").And.Message.Contains(found));

    [Test]
    public void A_message_without_one_is_refused() => Assert.That(
        () => new OrderForwarder("a").ForwardAsync(new BuildWidget(Guid.NewGuid()), new Nowhere(), CancellationToken.None),
        Throws.InvalidOperationException.With.Message.StartsWith("Expected a document in message "));

    [Test]
    public void A_message_that_asks_for_no_row_is_refused() => Assert.That(
        () => WidgetLookup.AnswerAsync(new BuildWidget(Guid.NewGuid()), new Nowhere(), CancellationToken.None),
        Throws.InvalidOperationException.With.Message.StartsWith("Expected the id of a row in message "));

    /// <summary>The handler must not come so far.</summary>
    private sealed class Nowhere : IMessageContext
    {
        public ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken) => throw new NotSupportedException();
    }
}
