namespace Kit.Tests.Results.Documentation;

/// <summary>A command writes what stands between the marks of a block.</summary>
public sealed class BlocksOfThePages
{
    private static IEnumerable<string> Pages => MarkdownPage.All;

    [TestCaseSource(nameof(Pages))]
    public void Each_begins_and_ends(string path)
    {
        var marks = new MarkdownPage(path).Marks.ToList();

        Assert.That(marks.Where((mark, index) => mark == "<!-- /block -->" != (index % 2 == 1)), Is.Empty, $"{path}: a block in a block, or without an end.");
        Assert.That(marks.Count % 2, Is.Zero, $"{path}: the last block has no end.");
        Assert.That(marks.Where(mark => mark != "<!-- /block -->"), Is.Unique, path);
    }
}
