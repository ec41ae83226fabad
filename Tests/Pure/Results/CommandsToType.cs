using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class CommandsToType
{
    [TestCase("report", "results/2026-12-01", ExpectedResult = "report results/2026-12-01")]
    [TestCase("--out=results/s", ExpectedResult = "--out=results/s")]
    [TestCase("--resume", "my run", ExpectedResult = "--resume 'my run'")]
    [TestCase("--postgresql", "Host=db1;Username=kit;Password=***", ExpectedResult = "--postgresql 'Host=db1;Username=kit;Password=***'")]
    [TestCase("it's", "", ExpectedResult = @"'it'\''s' ''")]
    public string Are_in_quotes_where_a_shell_needs_them(params string[] words) => TypedCommand.Of(words);

    [TestCase("--out", "results/s", ExpectedResult = true)]
    [TestCase("--out=results/s", ExpectedResult = true)]
    [TestCase("--out:results/s", ExpectedResult = true)]
    [TestCase("--output", "results/s", ExpectedResult = false)]
    public bool Have_an_option_once(params string[] words) => TypedCommand.Has(words, "--out");
}
