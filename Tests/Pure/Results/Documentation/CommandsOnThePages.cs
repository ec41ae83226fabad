using System.Xml.Linq;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Results.Documentation;

public sealed class CommandsOnThePages
{
    private static IEnumerable<TestCaseData> Commands =>
        from page in MarkdownPage.All
        from program in (string[])["./run.sh ", "kit-prove "]
        from line in new MarkdownPage(page).CodeThatBeginsWith(program)
        let typed = line[program.Length..].Split(" #")[0].Trim()
        where typed is not ("…" or "prove …")
        select new TestCaseData(typed, program).SetArgDisplayNames(page, typed);

    [TestCaseSource(nameof(Commands))]
    public void A_command_on_a_page_has_words_that_the_program_knows(string typed, string program)
    {
        const string Prove = "prove ";
        var isOfProve = program != "./run.sh " || typed.Replace("--install ", "", StringComparison.Ordinal).StartsWith(Prove, StringComparison.Ordinal);
        var words = isOfProve && program == "./run.sh " ? typed.Replace(Prove, "", StringComparison.Ordinal) : typed;

        Assert.That(RunnerInProcess.WordsNotKnown(words, isOfProve), Is.Empty);
    }

    /// <summary>A prerelease is below its release: NuGet would take the first pack again.</summary>
    [Test]
    public void A_library_that_is_packed_again_has_a_version_above_the_first()
    {
        const string Option = "-p:Version=";
        var page = File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "tutorials", "use-an-endpoint.md"));
        var again = page[(page.IndexOf(Option, StringComparison.Ordinal) + Option.Length)..].Split('-')[0];
        var first = XDocument.Load(Path.Combine(RepositoryFiles.Root, "Directory.Build.props")).Descendants("Version").Single().Value;

        Assert.That(Version.Parse(again), Is.GreaterThan(Version.Parse(first)));
    }
}
