using System.Xml.Linq;

namespace Kit.Tests.Results.Documentation;

/// <summary>Whether a link leads to a file and a heading, .ci/prose checks.</summary>
public sealed class LinksOfThePages
{
    /// <summary>The readme of a package is made of them when it is packed.</summary>
    [Test]
    public void The_sections_that_a_package_names_are_there()
    {
        var sections = RepositoryFiles.Of("*.csproj").SelectMany(file => XDocument.Load(file).Descendants("ReadmeSection").Select(section =>
            (Page: Path.Combine(Path.GetDirectoryName(file)!, section.Attribute("Include")!.Value), Heading: section.Attribute("Heading")!.Value))).ToList();

        Assert.That(sections, Is.Not.Empty);
        Assert.That(sections.Where(section => !File.ReadLines(section.Page).Contains($"## {section.Heading}", StringComparer.Ordinal)), Is.Empty);
    }

    /// <summary>The index leads to every page of docs.</summary>
    [Test]
    public void The_index_has_each_page_of_docs()
    {
        var pages = MarkdownPage.All.Where(page => page.StartsWith("docs/", StringComparison.Ordinal));
        var shown = new MarkdownPage("docs/README.md").Targets.Select(target => $"docs/{target}");

        Assert.That(pages.Except([.. shown, "docs/README.md"], StringComparer.Ordinal), Is.Empty);
    }
}
