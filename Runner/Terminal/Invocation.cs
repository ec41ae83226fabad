using System.CommandLine;
using System.CommandLine.Invocation;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using Kit.Runner.Results;

namespace Kit.Runner.Terminal;

/// <summary>Runs a command line and returns its exit code. An error is one line with its remedy; the stack trace comes only with <c>--verbose</c>.</summary>
internal static class Invocation
{
    /// <summary>A program that starts this one sets it to 1 if it ends it by closing its standard input: signals pass through no other program.</summary>
    public const string StopsWithInput = "KIT_STOPS_WITH_INPUT";

    // Servers are stopped and removed within this time after Ctrl+C.
    private static readonly TimeSpan ToCleanUp = TimeSpan.FromMinutes(1);

    /// <summary>Runs it on the console.</summary>
    /// <param name="typedAfter">What the examples of its help follow on the command line.</param>
    public static Task<int> RunAsync(RootCommand root, IReadOnlyList<string> arguments, string typedAfter)
    {
        // Numbers and days are written as in the files, whatever the user's language.
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        Console.OutputEncoding = Encoding.UTF8;
        TerminalThatCanGo.WrapConsole();
        return RunAsync(root, arguments, typedAfter, Console.Out, Console.Error);
    }

    /// <summary>Runs a command that writes to the output of its invocation, and not to the console.</summary>
    /// <inheritdoc cref="RunAsync(RootCommand, IReadOnlyList{string}, string)" path="/param"/>
    public static async Task<int> RunAsync(
        RootCommand root, IReadOnlyList<string> arguments, string typedAfter, TextWriter output, TextWriter errors)
    {
        var verbose = new Option<bool>("--verbose") { Description = "Show where an error came from.", Recursive = true };
        root.Options.Add(verbose);
        HelpWithExamples.AddTo(root, typedAfter);
        var parsed = root.Parse(arguments);
        if (parsed.Action is ParseErrorAction)
        {
            UsageError.Write(parsed, errors);
            return ExitCode.Usage;
        }

        // A terminal was closed, or its connection was lost: as Ctrl+C, which the library turns into a cancellation, as it does SIGTERM.
        using var hangUp = new CancellationTokenSource();
        using var registration = PosixSignalRegistration.Create(PosixSignal.SIGHUP, signal =>
        {
            signal.Cancel = true;
            hangUp.Cancel();
        });
        if (Environment.GetEnvironmentVariable(StopsWithInput) == "1")
            _ = AtEndOfInputAsync(hangUp.Cancel);
        try
        {
            return await parsed.InvokeAsync(
                new InvocationConfiguration
                {
                    Output = output,
                    Error = errors,
                    EnableDefaultExceptionHandler = false,
                    ProcessTerminationTimeout = ToCleanUp,
                },
                hangUp.Token);
        }
        catch (OperationCanceledException)
        {
            await errors.WriteLineAsync("Stopped.");
            return ExitCode.Interrupted;
        }
        catch (IOException) when (hangUp.IsCancellationRequested)
        {
            // Nobody can read what it says of its end.
            return ExitCode.Interrupted;
        }
        catch (Exception failure)
        {
            await errors.WriteLineAsync($"error: {(parsed.GetValue(verbose) ? failure.ToString() : KitException.MessageOf(failure))}");
            if (failure is KitException { Remedy: var remedy })
                await errors.WriteLineAsync($"  → {remedy}");
            return failure is KitException { IsUsage: true } ? ExitCode.Usage : ExitCode.Failure;
        }
    }

    private static async Task AtEndOfInputAsync(Action stop)
    {
        await using var input = Console.OpenStandardInput();
        await input.CopyToAsync(Stream.Null, CancellationToken.None);
        try
        {
            stop();
        }
        catch (ObjectDisposedException)
        {
            // The command has ended.
            return;
        }
    }
}
