using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;
using Kit.Runner.Results;

namespace Kit.Runner.Terminal;

/// <summary>Prints a command's help and its examples; for the root, one example of each command.</summary>
/// <param name="typedAfter">What an example follows on the command line.</param>
internal sealed class HelpWithExamples(HelpAction help, string typedAfter) : SynchronousCommandLineAction
{
    public static void AddTo(RootCommand root, string typedAfter)
    {
        var option = root.Options.OfType<HelpOption>().Single();
        option.Action = new HelpWithExamples((HelpAction)option.Action!, typedAfter);
    }

    public override int Invoke(ParseResult parseResult)
    {
        help.Invoke(parseResult);
        var examples = parseResult.CommandResult.Command is KitCommand command
            ? command.Examples
            : [.. parseResult.CommandResult.Command.Subcommands.OfType<KitCommand>().Select(each => each.Examples[0])];
        if (examples.Count == 0)
            return ExitCode.Success;

        var output = parseResult.InvocationConfiguration.Output;
        var width = examples.Max(example => example.Typed.Length);
        output.WriteLine($"Examples, as typed after {typedAfter}:");
        foreach (var (typed, purpose) in examples)
            output.WriteLine($"  {typed.PadRight(width)}  {purpose}");

        return ExitCode.Success;
    }
}
