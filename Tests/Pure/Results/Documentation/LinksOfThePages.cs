namespace Kit.Tests.Results.Documentation;

public sealed class LinksOfThePages
{
    private static readonly string[] PackagesReadmes = ["Endpoints/", "Modes/", "Proofs/"];

    private static IEnumerable<string> Pages => MarkdownPage.All;

    [TestCaseSource(nameof(Pages))]
    public void Each_leads_to_a_file_and_a_heading(string path)
    {
        var page = new MarkdownPage(path);

        Assert.That(
            page.Targets.Where(IsRelative).Select(target => WrongIn(page, target)).OfType<string>(),
            Is.Empty,
            "Correct the links, or add the file or the heading.");
    }

    /// <summary>A package's page is read where the other files are not.</summary>
    [TestCaseSource(nameof(Pages))]
    public void Those_of_a_package_lead_out_of_the_repository(string path)
    {
        if (PackagesReadmes.Any(folder => path.StartsWith(folder, StringComparison.Ordinal)))
            Assert.That(new MarkdownPage(path).Targets.Where(IsRelative), Is.Empty);
    }

    /// <summary>The index leads to every page of docs.</summary>
    [Test]
    public void The_index_has_each_page_of_docs()
    {
        var pages = Pages.Where(page => page.StartsWith("docs/", StringComparison.Ordinal));
        var shown = new MarkdownPage("docs/README.md").Targets.Select(target => $"docs/{target}");

        Assert.That(pages.Except([.. shown, "docs/README.md"], StringComparer.Ordinal), Is.Empty);
    }

    private static bool IsRelative(string target) => !Uri.TryCreate(target, UriKind.Absolute, out _);

    /// <summary>A sentence with the page and the link; <see langword="null"/> where it leads somewhere.</summary>
    private static string? WrongIn(MarkdownPage page, string target)
    {
        var (file, anchor) = target.Split('#') is [var before, var after] ? (before, after) : (target, "");
        var folder = Path.Combine(RepositoryFiles.Root, Path.GetDirectoryName(page.Path)!);
        var full = file.Length == 0 ? Path.Combine(RepositoryFiles.Root, page.Path) : Path.GetFullPath(Path.Combine(folder, file));
        var path = Path.GetRelativePath(RepositoryFiles.Root, full).Replace('\\', '/');
        if (!File.Exists(full) && !Directory.Exists(full))
            return $"{page.Path} links to '{target}', and there is no file or folder '{path}'.";

        return anchor.Length > 0 && path.EndsWith(".md", StringComparison.Ordinal) && !new MarkdownPage(path).Anchors.Contains(anchor)
            ? $"{page.Path} links to '{target}', and no heading of '{path}' has that anchor."
            : null;
    }
}
