using System.Text.RegularExpressions;
using Markdig;
using Markdig.Syntax;
using Markdig.Syntax.Inlines;

namespace Kit.Tests.Results.Documentation;

/// <summary>A Markdown file of this repository, read as a forge reads it.</summary>
internal sealed partial class MarkdownPage
{
    private static readonly MarkdownPipeline Pipeline = new MarkdownPipelineBuilder().UsePipeTables().Build();

    private readonly MarkdownDocument document;
    private readonly string[] lines;

    /// <param name="path">The file, from the root.</param>
    public MarkdownPage(string path)
    {
        var text = File.ReadAllText(Path.Combine(RepositoryFiles.Root, path)).ReplaceLineEndings("\n");
        lines = text.Split('\n');
        document = Markdown.Parse(text, Pipeline);
    }

    /// <summary>The pages that people read: those of the root and of docs, and each folder's README.</summary>
    public static IEnumerable<string> All { get; } =
    [
        .. from path in RepositoryFiles.Of("*.md").Select(file => Path.GetRelativePath(RepositoryFiles.Root, file).Replace('\\', '/'))
           where !path.Contains('/', StringComparison.Ordinal)
               || path.StartsWith("docs/", StringComparison.Ordinal)
               || path.EndsWith("/README.md", StringComparison.Ordinal)
           orderby path
           select path,
    ];

    /// <summary>The targets of links and pictures.</summary>
    public IEnumerable<string> Targets =>
    [
        .. document.Descendants<LinkInline>().Select(link => link.Url ?? ""),
        .. document.Descendants<HtmlInline>().SelectMany(html => SourcesIn(html.Tag)),
        .. document.Descendants<HtmlBlock>().SelectMany(html => SourcesIn(html.Lines.ToString())),
    ];

    /// <summary>The lines of code that begin with these words, in a block or in a sentence.</summary>
    public IEnumerable<string> CodeThatBeginsWith(string words) =>
        document.Descendants<CodeBlock>().SelectMany(block => block.Lines.ToString().Split('\n'))
            .Concat(document.Descendants<CodeInline>().Select(code => code.Content))
            .Where(line => line.StartsWith(words, StringComparison.Ordinal));

    /// <summary>The cells of each row of the first table of the page, its header first.</summary>
    public IReadOnlyList<IReadOnlyList<string>> FirstTable() => TableIn(lines);

    private static List<IReadOnlyList<string>> TableIn(IEnumerable<string> lines) =>
        [.. lines.SkipWhile(line => !IsRow(line)).TakeWhile(IsRow).Where((_, index) => index != 1)
            .Select(row => (IReadOnlyList<string>)[.. row.Trim('|').Split('|').Select(cell => cell.Trim())])];

    private static bool IsRow(string line) => line.StartsWith('|');

    private static IEnumerable<string> SourcesIn(string html) => Source().Matches(html).Select(match => match.Groups["target"].Value);

    [GeneratedRegex("(src|href)=\"(?<target>[^\"]*)\"", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Source();
}
