using Kit.Tests.Results.Documentation;

namespace Kit.Tests.Documentation;

/// <summary>The pages, the help and the documentation comments are British English, with the field's words.</summary>
public sealed class SpellingOfTheTexts
{
    // Wrong, and right in America only: the dictionary must have neither.
    private static readonly string[] Mistakes = ["recieved", "behavior"];

    private static readonly IReadOnlyList<Prose> Texts =
    [
        .. MarkdownPage.All.Select(page => Prose.OfMarkdown(page, TextOf(page))),
        .. Files("help-*.txt").Where(file => file.StartsWith("Tests/Approved/", StringComparison.Ordinal)).Select(file => Prose.OfHelp(file, TextOf(file))),
        .. Files("*.cs").Where(file => !file.StartsWith("Tests/", StringComparison.Ordinal)).Select(file => Prose.OfDocstrings(file, TextOf(file))),
    ];

    [Test]
    public async Task Is_that_of_the_dictionary_or_of_the_field()
    {
        var unknown = await Hunspell.UnknownAsync(Texts.SelectMany(text => text.Words()).Select(word => word.Text).Concat(Mistakes));

        Assert.That(unknown, Is.SupersetOf(Mistakes), "The dictionary must be a British one.");
        AssertNone(WordList.Read().MistakesIn(Texts, unknown));
    }

    [Test]
    public void Needs_each_word_of_the_list() => AssertNone(WordList.Read().UnusedIn(Texts));

    [Test]
    public void Has_a_list_in_order() =>
        Assert.That(
            WordList.Read().Words,
            Is.EqualTo(WordList.Read().Words.Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)),
            $"Sort it by bytes, each word once: LC_ALL=C sort -u -o {WordList.File} {WordList.File}");

    private static void AssertNone(IEnumerable<string> sentences) => Assert.That(string.Join('\n', sentences), Is.Empty);

    private static IEnumerable<string> Files(string pattern) =>
        RepositoryFiles.Of(pattern).Select(file => Path.GetRelativePath(RepositoryFiles.Root, file).Replace('\\', '/')).Order(StringComparer.Ordinal);

    private static string TextOf(string file) => File.ReadAllText(Path.Combine(RepositoryFiles.Root, file));
}
