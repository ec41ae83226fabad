using System.CommandLine;
using System.CommandLine.Help;
using Kit.Prove.Commands;
using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Terminal;

namespace Kit.Tests.CommandLine;

public sealed class AskedForHelp
{
    private static IEnumerable<Command> Commands => Below(AllCommands.Under([])).Concat(Below(Verbs.Root()));

    private static IEnumerable<TestCaseData> Examples =>
        from command in Commands.OfType<KitCommand>()
        from example in command.Examples
        select new TestCaseData(example.Typed, IsOfProve(command)).SetArgDisplayNames(example.Typed);

    [Test]
    public async Task The_root_shows_every_command_with_an_example()
    {
        var result = await RunnerInProcess.RunAsync("--help");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Approval.Verify("help-root.txt", result.Output.Replace("testhost", "Kit.Runner", StringComparison.Ordinal));
    }

    [Test]
    public async Task The_program_that_proves_a_service_shows_its_own()
    {
        var result = await RunnerInProcess.ProveAsync("--help");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Approval.Verify("help-prove.txt", result.Output.Replace("testhost", "Kit.Prove", StringComparison.Ordinal));
    }

    [Test]
    public void Every_command_option_and_argument_says_what_it_is()
    {
        var symbols = Commands.SelectMany(command => command.Options.Concat<Symbol>(command.Arguments).Append(command)).Where(symbol => !symbol.Hidden);

        Assert.That(symbols.Where(symbol => string.IsNullOrWhiteSpace(symbol.Description)).Select(symbol => symbol.Name), Is.Empty);
    }

    [Test]
    public async Task A_command_shows_its_options_and_its_examples()
    {
        foreach (var command in Commands.OfType<KitCommand>().Where(command => command.Subcommands.Count == 0))
        {
            string[] arguments = [.. WordsOf(command), "--help"];
            var result = IsOfProve(command) ? await RunnerInProcess.ProveAsync(arguments) : await RunnerInProcess.RunAsync(arguments);

            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), command.Name);
            foreach (var shown in command.Options.Where(option => !option.Hidden && option is not HelpOption).Select(option => option.Name)
                .Concat(command.Examples.Select(example => example.Typed)))
                Assert.That(result.Output, Does.Contain(shown), command.Name);
        }
    }

    /// <summary>Its folders, builds and ids are not there; its words are the command's.</summary>
    [TestCaseSource(nameof(Examples))]
    public void Every_example_has_words_that_the_command_knows(string typed, bool isOfProve)
    {
        Assert.That(RunnerInProcess.WordsNotKnown(typed, isOfProve), Is.Empty);
    }

    private static bool IsOfProve(Command command) => command.GetType().Assembly == typeof(Verbs).Assembly;

    private static IEnumerable<Command> Below(Command command) => command.Subcommands.SelectMany(Below).Prepend(command);

    private static IEnumerable<string> WordsOf(Command command) =>
        command.Parents.OfType<Command>().Where(parent => parent is not RootCommand).SelectMany(WordsOf).Append(command.Name);
}
