namespace Kit.Tests.Samples;

/// <summary>What the pages show is compiled: in the sample, or in a test next to this one.</summary>
public sealed class SnippetsOfThePages
{
    private static readonly string[] Folders = ["Samples", "Tests/Endpoints/Samples", "Tests/Pure/Samples"];

    [TestCase("README.md", 1)]
    [TestCase("docs/tutorials/use-an-endpoint.md", 11)]
    [TestCase("docs/guides/cheaper.md", 1)]
    [TestCase("docs/guides/nservicebus.md", 5)]
    [TestCase("docs/tutorials/prove-your-service.md", 1)]
    public void Each_stands_in_the_sources_word_for_word(string page, int count)
    {
        var sources = Folders
            .SelectMany(folder => Directory.GetFiles(Path.Combine(RepositoryFiles.Root, folder), "*.cs", SearchOption.AllDirectories))
            .Select(source => Unindented(File.ReadAllText(source)))
            .ToList();
        var snippets = RepositoryFiles.Snippets(page).Where(snippet => !RepositoryFiles.IsApplication(snippet)).ToList();

        Assert.That(snippets, Has.Count.EqualTo(count));
        foreach (var snippet in snippets)
            Assert.That(sources.Exists(source => source.Contains(Unindented(snippet), StringComparison.Ordinal)), Is.True, snippet);
    }

    private static string Unindented(string code) => string.Join('\n', code.ReplaceLineEndings("\n").Trim().Split('\n').Select(line => line.Trim()));
}
