using System.CommandLine;
using System.CommandLine.Parsing;
using System.Text.RegularExpressions;
using Kit.Prove.Commands;
using Kit.Runner.CommandLine;
using Kit.Runner.Terminal;

namespace Kit.Tests.CommandLine;

/// <summary>What a runner left when it had ended.</summary>
internal sealed record RunnerResult(int ExitCode, string Output, string Errors);

/// <summary>A command of the runner without a process of its own, for those that start none. It takes the console: not for fixtures side by side.</summary>
internal static partial class RunnerInProcess
{
    public static Task<RunnerResult> RunAsync(params string[] arguments) => RunAsync(AllCommands.Under(arguments), arguments, AllCommands.TypedAfter);

    /// <summary>A command of the program that proves a service.</summary>
    public static Task<RunnerResult> ProveAsync(params string[] arguments) => RunAsync(Verbs.Root(), Verbs.Complete(arguments), Verbs.TypedAfter);

    /// <summary>
    /// What is wrong with a command as people type it after the program's name, without running it. <c>--install</c> is the script's.
    /// A folder of an example is not there, an id is cut short, and what is missing is asked for on a terminal: none of them is a wrong word.
    /// A sign at which a shell would end or divert the command has to be in quotes.
    /// </summary>
    public static IEnumerable<string> WordsNotKnown(string typed, bool isOfProve)
    {
        if (Quoted.Replace(typed, "").FirstOrDefault(";&|<>$()".Contains) is var sign and not '\0')
            return [$"{sign} outside of quotes"];

        var arguments = CommandLineParser.SplitCommandLine(typed.Replace('\'', '"')).Where(word => word is not "--install").ToArray();
        var parsed = isOfProve ? Verbs.Root().Parse(Verbs.Complete(arguments)) : AllCommands.Under(arguments).Parse(arguments);
        string[] notHere = ["expected a folder", "expected two runs", "…'", "is required."];
        return parsed.Errors.Select(error => error.Message).Where(message => !notHere.Any(part => message.Contains(part, StringComparison.Ordinal)));
    }

    [GeneratedRegex("\"[^\"]*\"|'[^']*'", RegexOptions.NonBacktracking)]
    private static partial Regex Quoted { get; }

    private static async Task<RunnerResult> RunAsync(RootCommand root, string[] arguments, string typedAfter)
    {
        var (output, errors) = (Console.Out, Console.Error);
        await using var said = new StringWriter { NewLine = "\n" };
        await using var complained = new StringWriter { NewLine = "\n" };
        Console.SetOut(said);
        Console.SetError(complained);
        try
        {
            var code = await Invocation.RunAsync(root, arguments, typedAfter);
            return new RunnerResult(code, said.ToString().ReplaceLineEndings("\n"), complained.ToString().ReplaceLineEndings("\n"));
        }
        finally
        {
            Console.SetOut(output);
            Console.SetError(errors);
        }
    }
}
