namespace Kit.Runner.Results.Pages;

/// <summary>The pages whose blocks a command writes: those of the root and of docs, and each folder's README.</summary>
public sealed class PagesOfTheKit
{
    private const string Readme = "README.md";
    private const string Docs = "docs";

    private static readonly IReadOnlyList<string> Built = ["bin", "obj"];

    private static readonly EnumerationOptions Below = new() { RecurseSubdirectories = true, AttributesToSkip = FileAttributes.Hidden };

    private readonly string root;
    private readonly Repository repository;

    /// <param name="root">The folder of Kit.sln.</param>
    public PagesOfTheKit(string root, IReadOnlyList<ShownKind> kinds) => (this.root, repository) = (root, new Repository(root, kinds));

    /// <summary>Every page that has blocks, and every picture of theirs, with the new content. Nothing is written.</summary>
    /// <exception cref="KitException">
    /// A block is unknown or has no end, or its folders are not there or lack what it needs; the message names page and line.
    /// </exception>
    public IReadOnlyList<PageFile> Make() => [.. Paths().Select(path => Page.Parse(path, repository.TextOf(path))).SelectMany(FilesOf)];

    private IEnumerable<PageFile> FilesOf(Page page)
    {
        var texts = page.Blocks.ToDictionary(block => block, block => TextOf(page, block));
        if (texts.Count == 0)
            yield break;

        yield return new PageFile(
            page.Path,
            page.With(block => texts[block].Lines),
            [.. from block in page.Blocks where !block.Lines.SequenceEqual(texts[block].Lines) select $"{block.Place}: block {block.Name}"],
            [.. from block in page.Blocks from kept in texts[block].Kept select $"{block.Place}: block {block.Name}, {kept}"]);
        foreach (var (block, (path, text)) in page.Blocks.SelectMany(block => texts[block].Pictures.Select(picture => (block, picture))))
        {
            var isThere = repository.HasFile(path) && string.Equals(repository.TextOf(path).ReplaceLineEndings("\n"), text, StringComparison.Ordinal);
            yield return new PageFile(path, text, isThere ? [] : [$"{path}: the picture of block {block.Name}"], []);
        }
    }

    private BlockText TextOf(Page page, Block block)
    {
        var kind = BlockKind.Of(block);
        try
        {
            return kind.Write(new BlockSources(page.Path, block, repository));
        }
        catch (KitException failure)
        {
            throw new KitException($"{block.Place}: block '{block.Name}': {failure.Message}", failure.Remedy, failure);
        }
    }

    private IEnumerable<string> Paths() => Directory.EnumerateFiles(root, "*.md", Below)
        .Select(file => Path.GetRelativePath(root, file).Replace('\\', '/'))
        .Where(path => path.Split('/') is [_] or [Docs, ..] or [.., Readme] && !path.Split('/').Any(Built.Contains))
        .Order(StringComparer.Ordinal);
}

/// <summary>A page with blocks, or a picture that one of them shows, with the new content.</summary>
/// <param name="Path">From the root, with slashes.</param>
/// <param name="Differing">The present differences, each with its place.</param>
/// <param name="Kept">Notes about lines that were left as they are, because this build cannot tell what they must be.</param>
public sealed record PageFile(string Path, string Text, IReadOnlyList<string> Differing, IReadOnlyList<string> Kept);
