namespace Kit.Tests.Documentation;

public sealed class TextWithAMistake
{
    private const string Page =
        """
        # A headnig

        See the [pgae](other/pagge.md#anchorr) and `inlinee` or <https://exampel.org>.
        A secnod line: 5ms, a/bb, KIT_TMEP, Kit.Runnr, --optoin and the broker’s, broker's, re-queeud ones.

        | Colunm | `coode` |
        |---|---|
        | **boldd** | a \| cel |

        <!-- block: blokc -->
        <img src="imagge.svg">
        <!-- /block -->

        ```csharp
        var fencde = 1;
        ```

            indentde
        """;

    private const string Help =
        """
        Description:
          Does somethign.

        Options:
          --optoin <vlaue>  The vlaeu.
        """;

    private const string Source =
        """
        /// <summary>Says <c>codde</c> and <see cref="Crefe"/> in one sentnece,
        /// that goes <c>on
        /// oon</c> and onn.</summary>
        /// <param name="paramm">A parametre &lt;</param>
        public void Methood() // no commnet
        """;

    [Test]
    public void Is_read_without_code_and_targets() =>
        Assert.That(
            Prose.OfMarkdown("page.md", Page).Words().Select(word => $"{word.Line} {word.Text}"),
            Is.EqualTo([
                "1 headnig", "3 See", "3 the", "3 pgae", "3 and", "3 or", "4 secnod", "4 line", "4 and", "4 the", "4 broker", "4 broker", "4 re",
                "4 queeud", "4 ones", "6 Colunm", "8 boldd", "8 cel"]));

    [Test]
    public void Is_read_from_the_second_column_of_help() =>
        Assert.That(
            Prose.OfHelp("help.txt", Help).Words().Select(word => $"{word.Line} {word.Text}"),
            Is.EqualTo(["1 Description", "2 Does", "2 somethign", "4 Options", "5 The", "5 vlaeu"]));

    [Test]
    public void Is_read_from_documentation_comments() =>
        Assert.That(
            Prose.OfDocstrings("Source.cs", Source).Words().Select(word => $"{word.Line} {word.Text}"),
            Is.EqualTo([
                "1 Says", "1 and", "1 in", "1 one", "1 sentnece", "2 that", "2 goes", "3 and", "3 onn", "4 parametre"]));

    [Test]
    public void Is_told_with_its_place_and_what_to_do() =>
        Assert.That(
            new WordList(["mutex"]).MistakesIn([Prose.OfMarkdown("docs/page.md", "Fine.\n\nMutex, mutex and mutxe.")], Unknown("mutex", "Mutex", "mutxe")),
            Is.EqualTo([
                "docs/page.md:3: the dictionary has no 'mutxe'. Correct it, or add it to Tests/Documentation/words.txt if the field uses it."]));

    [Test]
    public void Is_not_excused_by_another_case() =>
        Assert.That(
            new WordList(["PostgreSQL"]).MistakesIn([Prose.OfMarkdown("page.md", "PostgreSQL, PostgreSql")], Unknown("PostgreSQL", "PostgreSql")),
            Has.Exactly(1).Items.And.Exactly(1).Contains("'PostgreSql'"));

    [Test]
    public void Has_used_the_words_that_the_list_keeps() =>
        Assert.That(
            new WordList(["mutex", "semaphore"]).UnusedIn([Prose.OfMarkdown("page.md", "Mutex")]),
            Is.EqualTo(["Tests/Documentation/words.txt:2: no text contains 'semaphore'. Remove it."]));

    private static HashSet<string> Unknown(params string[] words) => new(words, StringComparer.Ordinal);
}
