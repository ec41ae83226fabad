using System.Xml;
using System.Xml.Xsl;

namespace Kit.Handlers;

/// <summary>The engine that compiles the stylesheet to code. It is compiled once.</summary>
public sealed class CompiledOrderTransform : IOrderTransform
{
    private readonly XslCompiledTransform engine = new();

    /// <param name="stylesheet">What it does.</param>
    /// <exception cref="StylesheetException">The stylesheet does not compile.</exception>
    public CompiledOrderTransform(string stylesheet = OrderStylesheet.Text) => OrderStylesheet.Load(stylesheet, engine.Load);

    public string Transform(string order)
    {
        using var reader = XmlReader.Create(new StringReader(order));
        using var text = new StringWriter();
        using (var writer = XmlWriter.Create(text, OrderStylesheet.Output))
            engine.Transform(reader, writer);

        return text.ToString();
    }
}
