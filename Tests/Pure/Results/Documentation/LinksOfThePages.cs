namespace Kit.Tests.Results.Documentation;

/// <summary>Whether a link leads to a file and a heading, .ci/prose checks.</summary>
public sealed class LinksOfThePages
{
    private static readonly string[] PackagesReadmes = ["Endpoints/", "Modes/", "Proofs/"];

    private static IEnumerable<string> Pages => MarkdownPage.All;

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
}
