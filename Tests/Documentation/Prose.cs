using System.Text.RegularExpressions;
using Markdig;
using Markdig.Syntax;
using Markdig.Syntax.Inlines;

namespace Kit.Tests.Documentation;

/// <summary>The English of one file. Everything else is blank, so that each word keeps its place.</summary>
/// <param name="File">The file, from the root.</param>
/// <param name="Text">As long as the file, with its line breaks.</param>
internal sealed partial record Prose(string File, string Text)
{
    private static readonly MarkdownPipeline Pipeline = new MarkdownPipelineBuilder().UsePipeTables().UsePreciseSourceLocation().Build();

    /// <summary>Without code, the targets of links, and HTML.</summary>
    public static Prose OfMarkdown(string file, string markdown)
    {
        var text = markdown.ReplaceLineEndings("\n");
        return new Prose(file, Only(Markdown.Parse(text, Pipeline).Descendants<LiteralInline>().Select(literal => literal.Span).Select(RangeOf), text));
    }

    /// <summary>Without the first of two columns, which holds options and commands.</summary>
    public static Prose OfHelp(string file, string help)
    {
        var text = help.ReplaceLineEndings("\n");
        return new Prose(file, Without(FirstColumn(), text));
    }

    /// <summary>The documentation comments of a C# file, without tags and code.</summary>
    public static Prose OfDocstrings(string file, string source)
    {
        var text = source.ReplaceLineEndings("\n");
        return new Prose(file, Without(Tag(), Only(DocumentationLine().Matches(text).Select(match => match.Groups["text"]).Select(RangeOf), text)));
    }

    /// <summary>Parts of hyphenated words are words. What looks like code, a path, a name with a dot or a figure is none.</summary>
    public IEnumerable<Word> Words() =>
        from line in Text.Split('\n').Index()
        from chunk in Chunk().Matches(line.Item)
        where !Code().IsMatch(chunk.Value)
        from word in Letters().Matches(chunk.Value)
        let stem = Possessive().Replace(word.Value.Replace('’', '\''), "")
        where stem.Length > 1
        select new Word(File, line.Index + 1, stem);

    private static Range RangeOf(SourceSpan span) => span.Start..(span.End + 1);

    private static Range RangeOf(Group group) => group.Index..(group.Index + group.Length);

    private static string Only(IEnumerable<Range> ranges, string text)
    {
        var kept = Blank(text).ToCharArray();
        foreach (var range in ranges)
            text.AsSpan(range).CopyTo(kept.AsSpan(range));

        return new string(kept);
    }

    private static string Without(Regex pattern, string text) => pattern.Replace(text, match => Blank(match.Value));

    private static string Blank(string text) => new([.. text.Select(character => character == '\n' ? '\n' : ' ')]);

    [GeneratedRegex(@"^  \S.*?  +", RegexOptions.Multiline, matchTimeoutMilliseconds: 1000)]
    private static partial Regex FirstColumn();

    [GeneratedRegex(@"^\s*///(?<text>.*)$", RegexOptions.Multiline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex DocumentationLine();

    [GeneratedRegex(@"<(?<name>c|code)>.*?</\k<name>>|<[^>]+>|&\w+;", RegexOptions.Singleline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Tag();

    [GeneratedRegex(@"\S+", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Chunk();

    [GeneratedRegex(@"\d|[\p{L}>\])][/\\_=:@|.(\[<{]+\p{L}|://|^\W*(--|[./\\$])\p{L}", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Code();

    [GeneratedRegex(@"[\p{Lu}\p{Ll}]+(['’][\p{Lu}\p{Ll}]+)*", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Letters();

    [GeneratedRegex("'s$", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Possessive();

    /// <param name="File">The file, from the root.</param>
    /// <param name="Line">From 1.</param>
    /// <param name="Text">Without a possessive <c>'s</c>.</param>
    internal sealed record Word(string File, int Line, string Text);
}
