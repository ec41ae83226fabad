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
}
