using Markdig;
using Markdig.Syntax;
using Markdig.Syntax.Inlines;

namespace Kit.Runner.Html;

/// <summary>
/// The ways in which figures can mislead, from docs/reference/measuring.md. Links to other pages of the repository become their texts: a page has none.
/// </summary>
internal static class Misleading
{
    private const string Heading = "How can these figures mislead you?";

    private static readonly MarkdownPipeline Pipeline = new MarkdownPipelineBuilder().DisableHtml().Build();

    /// <summary>The section as HTML, without its heading.</summary>
    /// <exception cref="InvalidOperationException">The page has no such section.</exception>
    public static string Text { get; } = Convert(Embedded.Measuring);

    internal static string Convert(string page)
    {
        var document = Markdown.Parse(page, Pipeline);
        var begin = document.OfType<HeadingBlock>().FirstOrDefault(heading => Words(heading) == Heading)
            ?? throw new InvalidOperationException($"docs/reference/measuring.md has no section '{Heading}'.");
        var section = new MarkdownDocument();
        foreach (var block in document.SkipWhile(block => block != begin).Skip(1).TakeWhile(block => block is not HeadingBlock).ToList())
        {
            document.Remove(block);
            section.Add(block);
        }

        foreach (var link in section.Descendants<LinkInline>().Where(link => !Uri.IsWellFormedUriString(link.Url, UriKind.Absolute)).ToList())
            link.ReplaceBy(new LiteralInline(Words(link)), copyChildren: false);

        return section.ToHtml(Pipeline);
    }

    private static string Words(HeadingBlock heading) => Words(heading.Inline!);

    private static string Words(ContainerInline inline) => string.Concat(inline.Descendants<LiteralInline>().Select(literal => literal.Content.ToString()));
}

/// <summary>Files in the assembly and next to it.</summary>
internal static class Embedded
{
    public static string Style => Text("page.css");

    public static string Script => Text("page.js");

    public static string Claims => Text("claims.json");

    public static string Measuring => File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "measuring.md")).ReplaceLineEndings("\n");

    private static string Text(string name)
    {
        using var stream = typeof(Embedded).Assembly.GetManifestResourceStream(name)
            ?? throw new InvalidOperationException($"The assembly has no file {name}.");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd().ReplaceLineEndings("\n");
    }
}
