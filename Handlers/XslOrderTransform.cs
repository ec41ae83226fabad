// XslTransform is obsolete. It is measured as the slow engine that older systems have, next to the one that replaced it. Its stylesheet is a constant,
// and without a resolver it follows no reference.
#pragma warning disable CS0618, CA5374

using System.Xml;
using System.Xml.XPath;
using System.Xml.Xsl;

namespace Kit.Handlers;

/// <summary>The engine of .NET 1.0, which interprets the stylesheet. It is loaded once.</summary>
public sealed class XslOrderTransform : IOrderTransform
{
    private readonly XslTransform engine = new();

    /// <param name="stylesheet">What it does.</param>
    /// <exception cref="StylesheetException">The stylesheet does not compile.</exception>
    public XslOrderTransform(string stylesheet = OrderStylesheet.Text) =>
        OrderStylesheet.Load(stylesheet, reader => engine.Load(reader, resolver: null));

    public string Transform(string order)
    {
        using var reader = XmlReader.Create(new StringReader(order));
        using var text = new StringWriter();
        using (var writer = XmlWriter.Create(text, OrderStylesheet.Output))
            engine.Transform(new XPathDocument(reader), args: null, writer, resolver: null);

        return text.ToString();
    }
}
