using Kit.Runner.CommandLine;
using Kit.Runner.Terminal;

namespace Kit.Tests.CommandLine;

/// <summary>A command for operators, of <c>branches</c> and <c>errors</c>, without a process of its own. These write nothing to the console.</summary>
internal static class OperatorsCommand
{
    public static async Task<RunnerResult> RunAsync(params string[] arguments)
    {
        await using var output = new StringWriter { NewLine = "\n" };
        await using var errors = new StringWriter { NewLine = "\n" };
        var code = await Invocation.RunAsync(AllCommands.Under(arguments), arguments, AllCommands.TypedAfter, output, errors);
        return new RunnerResult(code, output.ToString().ReplaceLineEndings("\n"), errors.ToString().ReplaceLineEndings("\n"));
    }
}
