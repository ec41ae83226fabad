using System.Xml;
using System.Xml.Xsl;

namespace Kit.Handlers;

/// <summary>The stylesheet that makes a shipment of an order, and how engines load one.</summary>
public static class OrderStylesheet
{
    /// <summary>XSLT 1.0, which every engine of .NET knows.</summary>
    public const string Text =
        """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
          <xsl:template match="/order">
            <shipment order="{@number}" region="{@region}" pieces="{sum(lines/line/@quantity)}">
              <to><xsl:value-of select="concat(customer/name, ', ', customer/street, ', ', customer/city)"/></to>
              <xsl:for-each select="lines/line">
                <xsl:sort select="@sku"/>
                <item sku="{@sku}" quantity="{@quantity}"><xsl:value-of select="."/></item>
              </xsl:for-each>
              <note><xsl:value-of select="note"/></note>
            </shipment>
          </xsl:template>
        </xsl:stylesheet>
        """;

    /// <summary>The result is a document without a declaration, as the mapper writes it.</summary>
    internal static XmlWriterSettings Output { get; } = new() { OmitXmlDeclaration = true };

    /// <summary>Lets an engine load a stylesheet.</summary>
    /// <exception cref="StylesheetException">It does not compile.</exception>
    internal static void Load(string stylesheet, Action<XmlReader> load)
    {
        using var reader = XmlReader.Create(new StringReader(stylesheet));
        try
        {
            load(reader);
        }
        catch (Exception refused) when (refused is XsltException or XmlException)
        {
            throw new StylesheetException(refused);
        }
    }
}
