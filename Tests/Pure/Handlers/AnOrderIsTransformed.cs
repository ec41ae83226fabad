using Kit.Handlers;

namespace Kit.Tests.Handlers;

/// <summary>The engines that make a shipment of an order.</summary>
[Parallelizable]
public sealed class AnOrderIsTransformed
{
    private static IEnumerable<TestCaseData> Engines =>
    [
        new TestCaseData(new XslOrderTransform()).SetArgDisplayNames("xsl"),
        new TestCaseData(new CompiledOrderTransform()).SetArgDisplayNames("compiled once"),
        new TestCaseData(new RecompiledOrderTransform()).SetArgDisplayNames("compiled each time"),
        new TestCaseData(new MappedOrderTransform()).SetArgDisplayNames("mapper"),
    ];

    private static IEnumerable<TestCaseData> Compilers =>
    [
        Compiler("xsl", stylesheet => new XslOrderTransform(stylesheet)),
        Compiler("compiled once", stylesheet => new CompiledOrderTransform(stylesheet)),
        Compiler("compiled each time", stylesheet => new RecompiledOrderTransform(stylesheet)),
    ];

    [TestCaseSource(nameof(Engines))]
    public void All_make_the_same_document(IOrderTransform engine) => Assert.That(
        engine.Transform(OrderDocument.Of(MessageOf(OrderDocument.North), length: null)),
        Is.EqualTo(
            "<shipment order=\"4711\" region=\"north\" pieces=\"19\"><to>Ada Lovelace, 12 Saint James Square, London</to>" +
            "<item sku=\"A-1001\" quantity=\"12\">Hexagon bolt, steel, M8</item><item sku=\"A-1002\" quantity=\"1\">Torque wrench</item>" +
            "<item sku=\"A-1003\" quantity=\"4\">Washer &amp; spring, M8</item><item sku=\"A-1004\" quantity=\"2\">Hexagon nut, steel, M8</item>" +
            "<note>Ring twice. </note></shipment>"));

    [TestCaseSource(nameof(Engines))]
    public void Of_a_large_order_all_make_the_same_large_document(IOrderTransform engine)
    {
        var order = OrderDocument.Of(MessageOf(OrderDocument.South), length: 51_200);

        var shipment = engine.Transform(order);

        Assert.That(shipment, Is.EqualTo(new MappedOrderTransform().Transform(order)).And.Contains("region=\"south\""));
        Assert.That(shipment, Has.Length.GreaterThan(50_000));
    }

    [TestCaseSource(nameof(Engines))]
    public void At_the_same_time_they_do_not_disturb_each_other(IOrderTransform engine)
    {
        var orders = Enumerable.Range(0, 200).Select(_ => OrderDocument.Of(Guid.NewGuid(), length: 1_024)).ToList();

        var shipments = orders.AsParallel().AsOrdered().WithDegreeOfParallelism(8).Select(engine.Transform).ToList();

        Assert.That(shipments, Is.EqualTo(orders.Select(new MappedOrderTransform().Transform)));
    }

    [TestCaseSource(nameof(Engines))]
    public void What_is_no_XML_is_refused(IOrderTransform engine) =>
        Assert.That(() => engine.Transform("order 4711"), Throws.InstanceOf<System.Xml.XmlException>());

    [TestCaseSource(nameof(Compilers))]
    public void A_stylesheet_that_lacks_something_is_refused_with_what(Func<string, IOrderTransform> compile)
    {
        const string Stylesheet =
            """
            <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
              <xsl:template match="/"><xsl:value-of/></xsl:template>
            </xsl:stylesheet>
            """;

        Assert.That(
            () => Used(compile(Stylesheet)),
            Throws.InstanceOf<StylesheetException>().With.Message.StartsWith("Expected a stylesheet in XSLT 1.0, and the engine cannot compile it: ")
                .And.Message.Contains("'select'").And.Message.EndsWith(" Correct the stylesheet."));
    }

    [TestCaseSource(nameof(Compilers))]
    public void A_stylesheet_that_is_no_XML_is_refused_with_the_place(Func<string, IOrderTransform> compile) => Assert.That(
        () => Used(compile("<xsl:stylesheet")), Throws.InstanceOf<StylesheetException>().With.Message.Contains("line 1").IgnoreCase);

    private static string Used(IOrderTransform transform) => transform.Transform(OrderDocument.Of(Guid.NewGuid(), length: null));

    private static Guid MessageOf(string region) =>
        Enumerable.Range(0, 2).Select(last => new Guid(0, 0, 0, [0, 0, 0, 0, 0, 0, 0, (byte)last])).Single(id => OrderDocument.RegionOf(id) == region);

    private static TestCaseData Compiler(string name, Func<string, IOrderTransform> compile) => new TestCaseData(compile).SetArgDisplayNames(name);
}
