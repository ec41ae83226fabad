using System.CommandLine;
using Kit.Prove.Commands;
using Kit.Runner.CommandLine;
using Kit.Runner.Terminal;

namespace Kit.Tests.CommandLine;

/// <summary>What a runner left when it had ended.</summary>
internal sealed record RunnerResult(int ExitCode, string Output, string Errors);

/// <summary>A command of the runner without a process of its own, for those that start none. It takes the console: not for fixtures side by side.</summary>
internal static class RunnerInProcess
{
    public static Task<RunnerResult> RunAsync(params string[] arguments) => RunAsync(AllCommands.Under(arguments), arguments, AllCommands.TypedAfter);

    /// <summary>A command of the program that proves a service.</summary>
    public static Task<RunnerResult> ProveAsync(params string[] arguments) => RunAsync(Verbs.Root(), Verbs.Complete(arguments), Verbs.TypedAfter);

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
