using System.CommandLine;
using Kit.Runner.Faults;
using Kit.Runner.Loads;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Runner.CommandLine;

/// <summary>Runs a command of a plan as if it was typed.</summary>
internal static class TypedCommand
{
    /// <param name="cancellationToken">Ctrl+C reaches the command by it.</param>
    /// <returns>The exit code.</returns>
    /// <exception cref="KitException">The command line is wrong.</exception>
    public static Task<int> RunAsync(string[] arguments, CancellationToken cancellationToken)
    {
        var parsed = new RootCommand { Of(arguments) }.Parse(arguments);
        return parsed.Errors is [var first, ..]
            ? throw new KitException($"{string.Join(' ', arguments)}: {first.Message}", "Correct the plan.") { IsUsage = true }
            : parsed.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null }, cancellationToken);
    }

    private static Command Of(string[] arguments) => arguments[0] switch
    {
        "run" => new RunCommand(arguments),
        "faults" => new FaultsCommand(arguments),
        "load" => new LoadCommand(arguments),
        "experiment" => new ExperimentCommand(),
        _ => throw new InvalidOperationException($"No plan has the command '{arguments[0]}'."),
    };
}
