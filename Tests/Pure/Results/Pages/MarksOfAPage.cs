using Kit.Runner.Results;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Results.Pages;

public sealed class MarksOfAPage
{
    [Test]
    public void Name_a_block_and_its_folders()
    {
        var page = Page.Parse(
            "README.md", "# A\n<!-- block: two from results/a, results/b/ -->\nx\ny\n<!-- /block -->\n\n<!-- block: one -->\n<!-- /block -->\n");

        Assert.That(page.Blocks.Select(block => block.Name), Is.EqualTo(new[] { "two", "one" }));
        Assert.That(page.Blocks[0].Folders, Is.EqualTo(new[] { "results/a", "results/b" }));
        Assert.That(page.Blocks[0].Lines, Is.EqualTo(new[] { "x", "y" }));
        Assert.That(page.Blocks[0].Place, Is.EqualTo("README.md:2"));
        Assert.That(page.Blocks[1].Folders, Is.Empty);
        Assert.That(page.Blocks[1].Lines, Is.Empty);
    }

    [Test]
    public void Stay_with_all_that_is_outside_them()
    {
        const string text = "# A\n\n<!-- block: two from results/a -->\nx\n<!-- /block -->\nb\n<!-- block: one -->\n<!-- /block -->\nc\n";

        var written = Page.Parse("README.md", text).With(block => [block.Name, block.Name]);

        Assert.That(written, Is.EqualTo(
            "# A\n\n<!-- block: two from results/a -->\ntwo\ntwo\n<!-- /block -->\nb\n<!-- block: one -->\none\none\n<!-- /block -->\nc\n"));
    }

    [Test]
    public void Of_another_systems_line_ends_are_read()
    {
        Assert.That(Page.Parse("a.md", "<!-- block: one -->\r\nx\r\n<!-- /block -->\r\n").Blocks.Single().Lines, Is.EqualTo(new[] { "x" }));
    }

    [TestCase("a\n<!-- block: one -->\nx\n", "docs/a.md:2: the block 'one' has no end: the page ends.")]
    [TestCase("<!-- block: one -->\n<!-- block: two -->\n<!-- /block -->\n", "docs/a.md:1: the block 'one' has no end: the next one begins at docs/a.md:2.")]
    [TestCase("a\n\n<!-- /block -->\n", "docs/a.md:3: <!-- /block --> ends no block.")]
    [TestCase("<!-- block one -->\n<!-- /block -->\n", "docs/a.md:1: expected the mark of a block, found '<!-- block one -->'.")]
    [TestCase("<!-- block: one from -->\n<!-- /block -->\n", "docs/a.md:1: expected the mark of a block, found '<!-- block: one from -->'.")]
    [TestCase(
        "<!-- block: one -->\n<!-- /block -->\n<!-- block: one -->\n<!-- /block -->\n",
        "docs/a.md:3: the block 'one' is on the page twice, first at docs/a.md:1.")]
    public void That_are_wrong_are_named_with_their_line(string text, string message) =>
        Assert.That(() => Page.Parse("docs/a.md", text), Throws.TypeOf<KitException>().With.Message.EqualTo(message));
}
