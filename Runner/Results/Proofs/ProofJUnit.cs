using System.Globalization;
using System.Security;
using System.Xml;
using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Proofs;

/// <summary>A proof as JUnit XML, which build servers read: a test case for each experiment.</summary>
public static class ProofJUnit
{
    public static void Write(ProofDocument document, TextWriter output)
    {
        using var xml = XmlWriter.Create(output, new XmlWriterSettings { Indent = true, NewLineChars = "\n" });
        xml.WriteStartElement("testsuite");
        xml.WriteAttributeString("name", document.Name);
        xml.WriteAttributeString("tests", Text(document.Results.Count + document.Untried.Count + document.NotTried.Count));
        xml.WriteAttributeString("failures", Text(document.Results.Count(result => result.Verdict is FaultVerdict.Broken)));
        xml.WriteAttributeString("errors", Text(document.Results.Count(result => !result.IsConclusive) + document.Untried.Count));
        xml.WriteAttributeString("skipped", Text(document.NotTried.Count));
        foreach (var result in document.Results)
            WriteCase(document.Name, result, xml);
        foreach (var request in document.Untried)
            WriteUntried(request, "error", "No crash could be tried here. It writes an effect, and handlings differ in it, or an idle process makes it, too.");
        foreach (var token in document.NotTried)
            WriteUntried(token, "skipped", document.NotTriedBecause);
        xml.WriteEndElement();

        void WriteUntried(string test, string kind, string? because)
        {
            WriteStart(document.Name, test, xml);
            xml.WriteStartElement(kind);
            xml.WriteAttributeString("message", because);
            xml.WriteEndElement();
            xml.WriteEndElement();
        }
    }

    private static void WriteCase(string name, ProofResult result, XmlWriter xml)
    {
        WriteStart(name, $"{result.Point.Token}: {result.Point.Moment}", xml);
        xml.WriteAttributeString("time", result.Seconds.ToString("F1", CultureInfo.InvariantCulture));
        if (result.Verdict is not FaultVerdict.Kept)
        {
            xml.WriteStartElement(result.IsConclusive ? "failure" : "error");
            var message = result.IsConclusive ? string.Join("; ", result.Violations) : $"{result.Verdict}: {result.Because}";
            xml.WriteAttributeString("message", XmlText.Readable(message));
            xml.WriteAttributeString("type", result.Class is { } kind ? Words.Of(kind) : $"{result.Verdict}");
            xml.WriteString(XmlText.Readable(string.Join('\n', TimelineStep.LinesOf(result.Timeline))));
            xml.WriteEndElement();
        }

        xml.WriteEndElement();
    }

    private static void WriteStart(string name, string test, XmlWriter xml)
    {
        xml.WriteStartElement("testcase");
        xml.WriteAttributeString("classname", name);
        xml.WriteAttributeString("name", XmlText.Readable(test));
    }

    private static string Text(int count) => count.ToString(CultureInfo.InvariantCulture);
}

/// <summary>Text of an application in XML. An application can write anything to its output.</summary>
internal static class XmlText
{
    /// <summary>The text without the characters that XML does not have.</summary>
    public static string Readable(string text) => string.Concat(text.Where(XmlConvert.IsXmlChar));

    /// <summary>The text for a place between tags or quotes.</summary>
    public static string Escaped(string text) => SecurityElement.Escape(Readable(text));
}
