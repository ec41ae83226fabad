namespace Kit.Tests.Results.Documentation;

/// <summary>The README is read in two minutes.</summary>
public sealed class FrontPage
{
    private const string Readme = "README.md";

    [Test]
    public void Is_short()
    {
        var file = Path.Combine(RepositoryFiles.Root, Readme);

        Assert.That(File.ReadLines(file).Count(), Is.LessThanOrEqualTo(110), "lines of README.md: a page under docs/ has more room");
        Assert.That(new FileInfo(file).Length, Is.LessThanOrEqualTo(8_192), "bytes of README.md: a page under docs/ has more room");
    }

    [Test]
    public void Its_snippets_are_short() =>
        Assert.That(RepositoryFiles.Snippets(Readme).Select(snippet => snippet.TrimEnd('\n').Split('\n').Length), Has.All.LessThanOrEqualTo(7));
}
