using Kit.Runner.CommandLine;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Documentation;

/// <summary>What stands between the marks of a block is what <c>pages</c> writes.</summary>
public sealed class BlocksOfThePages
{
    [Test]
    public void Are_as_they_would_be_written()
    {
        var files = new PagesOfTheKit(RepositoryFiles.Root, PagesCommand.Kinds).Make();

        Assert.That(files, Is.Not.Empty);
        Assert.That(files.SelectMany(file => file.Differing), Is.Empty, "Write them with: ./run.sh pages, and read the difference before you commit it.");
    }
}
