using System.Text.RegularExpressions;

namespace Kit.Runner.Results.Pages;

/// <summary>
/// A Markdown file with blocks: from <c>&lt;!-- block: NAME from results/A, results/B --&gt;</c>, or without <c>from …</c>, to <c>&lt;!-- /block
/// --&gt;</c>, each mark on a line of its own.
/// </summary>
internal sealed partial class Page
{
    private const string BeginOfMark = "<!-- block";
    private const string EndOfBlock = "<!-- /block -->";
    private const string Example = "<!-- block: NAME from results/FOLDER -->";

    private readonly IReadOnlyList<string> lines;

    private Page(string path, IReadOnlyList<string> lines)
    {
        (Path, this.lines) = (path, lines);
        Blocks = [.. BlocksIn(path, lines)];
        if (Blocks.GroupBy(block => block.Name, StringComparer.Ordinal).FirstOrDefault(same => same.Skip(1).Any()) is { } twice)
        {
            throw new KitException(
                $"{twice.Last().Place}: the block '{twice.Key}' is on the page twice, first at {twice.First().Place}.", "Remove one of them.");
        }
    }

    /// <summary>The path from the root of the repository, with slashes.</summary>
    public string Path { get; }

    public IReadOnlyList<Block> Blocks { get; }

    /// <param name="path">From the root.</param>
    /// <exception cref="KitException">A mark cannot be read, or a block has no end or no beginning; the message names the line.</exception>
    public static Page Parse(string path, string text) => new(path, text.ReplaceLineEndings("\n").Split('\n'));

    /// <summary>The page with other lines in its blocks.</summary>
    public string With(Func<Block, IReadOnlyList<string>> contentOf)
    {
        var written = new List<string>();
        var next = 0;
        foreach (var block in Blocks)
        {
            written.AddRange(lines.Skip(next).Take(block.Begin - next));
            written.AddRange(contentOf(block));
            next = block.Begin + block.Lines.Count;
        }

        return string.Join('\n', written.Concat(lines.Skip(next)));
    }

    private static IEnumerable<Block> BlocksIn(string path, IReadOnlyList<string> lines)
    {
        Block? open = null;
        foreach (var (index, line) in lines.Index())
        {
            var place = $"{path}:{Figures.Plain(index + 1)}";
            if (line.StartsWith(BeginOfMark, StringComparison.Ordinal))
            {
                if (open is not null)
                    throw Unclosed(open, $"the next one begins at {place}");
                open = Opened(line, place, index + 1);
            }
            else if (string.Equals(line, EndOfBlock, StringComparison.Ordinal))
            {
                if (open is null)
                    throw new KitException($"{place}: {EndOfBlock} ends no block.", $"Begin the block before it: {Example}, or remove the line.");
                yield return open with { Lines = [.. lines.Skip(open.Begin).Take(index - open.Begin)] };
                open = null;
            }
        }

        if (open is not null)
            throw Unclosed(open, "the page ends");
    }

    private static Block Opened(string line, string place, int begin) => Mark().Match(line) is { Success: true } mark
        ? new Block(mark.Groups["name"].Value, [.. mark.Groups["folder"].Captures.Select(folder => folder.Value.TrimEnd('/'))], place, begin, [])
        : throw new KitException($"{place}: expected the mark of a block, found '{line}'.", $"Write {Example}, or without 'from results/FOLDER'.");

    private static KitException Unclosed(Block block, string instead) => new(
        $"{block.Place}: the block '{block.Name}' has no end: {instead}.", $"Write {EndOfBlock} on a line of its own behind it.");

    [GeneratedRegex(
        "^<!-- block: (?<name>[a-z0-9-]+)( from (?<folder>[^ ,]+)(, (?<folder>[^ ,]+))*)? -->$",
        RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Mark();
}

/// <summary>The lines between two marks of a page, which a command writes.</summary>
/// <param name="Name">A page has it once.</param>
/// <param name="Folders">The folders of results from which it is made, as its mark names them; empty where it needs none.</param>
/// <param name="Place">The page and the line of its mark: <c>README.md:12</c>.</param>
/// <param name="Begin">Index of its first line in the page.</param>
internal sealed record Block(string Name, IReadOnlyList<string> Folders, string Place, int Begin, IReadOnlyList<string> Lines);
