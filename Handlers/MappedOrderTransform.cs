using System.Xml.Linq;

namespace Kit.Handlers;

/// <summary>The same in C#, without a stylesheet.</summary>
public sealed class MappedOrderTransform : IOrderTransform
{
    private static readonly string[] Address = ["name", "street", "city"];

    public string Transform(string order)
    {
        var from = XElement.Parse(order);
        var customer = from.Element("customer");
        var lines = from.Elements("lines").Elements("line").ToList();
        return new XElement(
            "shipment",
            new XAttribute("order", TextOf(from, "number")),
            new XAttribute("region", TextOf(from, "region")),
            new XAttribute("pieces", lines.Sum(line => (int?)line.Attribute("quantity") ?? 0)),
            new XElement("to", string.Join(", ", Address.Select(part => (string?)customer?.Element(part)))),
            lines.OrderBy(line => TextOf(line, "sku"), StringComparer.Ordinal).Select(line => new XElement(
                "item", new XAttribute("sku", TextOf(line, "sku")), new XAttribute("quantity", TextOf(line, "quantity")), line.Value)),
            new XElement("note", (string?)from.Element("note"))).ToString(SaveOptions.DisableFormatting);
    }

    private static string TextOf(XElement element, string attribute) => (string?)element.Attribute(attribute) ?? "";
}
