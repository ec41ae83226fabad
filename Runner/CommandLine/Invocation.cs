using System.CommandLine;
using System.CommandLine.Invocation;
using System.Text;
using Kit.Runner.Results;

namespace Kit.Runner.CommandLine;

/// <summary>Runs a command line and returns its exit code. An error is one line with its remedy; the stack trace comes only with <c>--verbose</c>.</summary>
internal static class Invocation
{
    // Servers are stopped and removed within this time after Ctrl+C.
    private static readonly TimeSpan ToCleanUp = TimeSpan.FromMinutes(1);

    public static async Task<int> RunAsync(RootCommand root, IReadOnlyList<string> arguments)
    {
        Console.OutputEncoding = Encoding.UTF8;
        var verbose = new Option<bool>("--verbose") { Description = "Show where an error came from.", Recursive = true };
        root.Options.Add(verbose);
        HelpWithExamples.AddTo(root);
        var parsed = root.Parse(arguments);
        if (parsed.Action is ParseErrorAction)
        {
            UsageError.Write(parsed, Console.Error);
            return ExitCode.Usage;
        }

        try
        {
            return await parsed.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = ToCleanUp });
        }
        catch (OperationCanceledException)
        {
            await Console.Error.WriteLineAsync("Stopped.");
            return ExitCode.Interrupted;
        }
        catch (Exception failure)
        {
            await Console.Error.WriteLineAsync(parsed.GetValue(verbose) ? $"error: {failure}" : $"error: {failure.Message}");
            if (failure is KitException { Remedy: var remedy })
                await Console.Error.WriteLineAsync($"  → {remedy}");
            return failure is KitException { IsUsage: true } ? ExitCode.Usage : ExitCode.Failure;
        }
    }
}
