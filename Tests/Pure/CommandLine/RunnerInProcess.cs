using Kit.Runner.CommandLine;

namespace Kit.Tests.CommandLine;

/// <summary>What a runner left when it had ended.</summary>
internal sealed record RunnerResult(int ExitCode, string Output, string Errors);

/// <summary>A command of the runner without a process of its own, for those that start none. It takes the console: not for fixtures side by side.</summary>
internal static class RunnerInProcess
{
    public static async Task<RunnerResult> RunAsync(params string[] arguments)
    {
        var (output, errors) = (Console.Out, Console.Error);
        await using var said = new StringWriter { NewLine = "\n" };
        await using var complained = new StringWriter { NewLine = "\n" };
        Console.SetOut(said);
        Console.SetError(complained);
        try
        {
            var code = await Invocation.RunAsync(AllCommands.Under(arguments), arguments);
            return new RunnerResult(code, said.ToString().ReplaceLineEndings("\n"), complained.ToString().ReplaceLineEndings("\n"));
        }
        finally
        {
            Console.SetOut(output);
            Console.SetError(errors);
        }
    }
}
