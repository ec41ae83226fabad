using System.Security;
using System.Xml;

namespace Kit.Runner.Results.Proofs;

/// <summary>Text of an application in XML. An application can write anything to its output.</summary>
internal static class XmlText
{
    /// <summary>The text without the characters that XML does not have.</summary>
    public static string Readable(string text) => string.Concat(text.Where(XmlConvert.IsXmlChar));

    /// <summary>The text for a place between tags or quotes.</summary>
    public static string Escaped(string text) => SecurityElement.Escape(Readable(text));
}
