using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Kit.Runner.Servers;
using Kit.Runner.Stage;

namespace Kit.Tests.CommandLine;

/// <summary>The runner as its users start it: a process of its own. It is killed, with all that it started, when a test forgets it.</summary>
internal sealed class RunnerProcess : IDisposable
{
    /// <summary>For a whole run, with servers and many processes to start, on a machine that others keep busy.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private readonly Process process;
    private readonly StringBuilder output = new();
    private readonly StringBuilder errors = new();

    private RunnerProcess(Process process)
    {
        this.process = process;
        process.OutputDataReceived += (_, line) => Append(output, line.Data);
        process.ErrorDataReceived += (_, line) => Append(errors, line.Data);
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public static string ProgramPath { get; } = Path.Combine(AppContext.BaseDirectory, ExternalProgram.FileNameOf("Kit.Runner"));

    /// <summary>The program that proves a service.</summary>
    public static string ProvePath { get; } = Path.Combine(AppContext.BaseDirectory, ExternalProgram.FileNameOf("Kit.Prove"));

    public int Id => process.Id;

    private string Output
    {
        get
        {
            lock (output)
                return output.ToString();
        }
    }

    /// <summary>Starts it and waits for its end.</summary>
    public static async Task<RunnerResult> RunAsync(params string[] arguments)
    {
        using var runner = Start(arguments);
        return await runner.EndAsync();
    }

    public static RunnerProcess Start(params string[] arguments) => Start([], ProgramPath, arguments);

    /// <summary>Starts the program that proves a service, and waits for its end.</summary>
    public static async Task<RunnerResult> ProveAsync(params string[] arguments)
    {
        using var prove = Start([], ProvePath, arguments);
        return await prove.EndAsync();
    }

    /// <param name="environment">What it finds as well as the tests' own environment, which never names a server.</param>
    /// <param name="program">The runner, or a program that starts it with the arguments.</param>
    /// <param name="arguments">One each.</param>
    public static RunnerProcess Start(Dictionary<string, string> environment, string program, IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            StandardOutputEncoding = Encoding.UTF8,
            StandardErrorEncoding = Encoding.UTF8,
        };
        foreach (var variable in new[]
        {
            ConnectionStrings.PostgreSqlVariable,
            ConnectionStrings.RabbitMqVariable,
            ConnectionStrings.RabbitMqManagementVariable,
        })
            start.Environment.Remove(variable);
        foreach (var (name, value) in environment)
            start.Environment[name] = value;

        return new RunnerProcess(Process.Start(start)!);
    }

    /// <summary>Waits until it has printed a text.</summary>
    public Task PrintedAsync(string text) => UntilAsync(() => Output.Contains(text, StringComparison.Ordinal), $"print '{text}'");

    /// <summary>Waits until it has printed a text of a pattern.</summary>
    public Task PrintedLikeAsync(string pattern) =>
        UntilAsync(() => Regex.IsMatch(Output, pattern, RegexOptions.NonBacktracking), $"print something like '{pattern}'");

    /// <summary>Types a text, as on its terminal.</summary>
    public async Task TypeAsync(string text)
    {
        await process.StandardInput.WriteAsync(text);
        await process.StandardInput.FlushAsync();
    }

    /// <summary>Waits until one of its rounds has its handler process, and gives that. Linux alone.</summary>
    public async Task<ProcessIdentity> HandlerAsync()
    {
        ProcessIdentity? found = null;
        await UntilAsync(
            () =>
            {
                found = ChildProcesses.Of(Id).Where(IsHandler).Select(ProcessIdentity.Of).FirstOrDefault();
                return found is not null;
            },
            "start a handler process");
        return found!;
    }

    /// <param name="signal">Its name, such as <c>INT</c>.</param>
    /// <param name="toGroup">Whether the whole process group gets it, as from a terminal; the process must have been started by <c>setsid</c>.</param>
    public async Task SignalAsync(string signal, bool toGroup = false)
    {
        if (signal == "INT" && IsInterruptIgnored())
            Assert.Ignore("Ctrl+C is ignored by whoever started the tests, as by a shell's nohup or &, and so by each process that they start.");
        var sent = await ChildProcesses.SignalAsync(signal, toGroup ? $"-{Id}" : $"{Id}");
        Assert.That(sent.Succeeded, sent.Output);
    }

    public async Task<RunnerResult> EndAsync()
    {
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            await process.WaitForExitAsync(patience.Token);
        }
        catch (OperationCanceledException)
        {
            Assert.Fail($"The runner did not end within {Patience.TotalSeconds} s. It said:\n{Output}\n{errors}");
        }

        return new RunnerResult(process.ExitCode, Output, errors.ToString());
    }

    public void Dispose()
    {
        if (!process.HasExited)
            process.Kill(entireProcessTree: true);
        process.Dispose();
    }

    private static bool IsHandler(int id) =>
        ChildProcesses.CommandLineOf(id).EndsWith($"{HandlerProcess.Command}\0", StringComparison.Ordinal);

    private static void Append(StringBuilder text, string? line)
    {
        lock (text)
            text.Append(line).Append(line is null ? "" : "\n");
    }

    /// <summary>Processes inherit it, and .NET leaves it as it is.</summary>
    private static bool IsInterruptIgnored()
    {
        const int interrupt = 1 << (2 - 1);
        var ignored = File.ReadLines("/proc/self/status").Single(line => line.StartsWith("SigIgn:", StringComparison.Ordinal)).Split('\t')[1];
        return (long.Parse(ignored, NumberStyles.HexNumber, CultureInfo.InvariantCulture) & interrupt) != 0;
    }

    private async Task UntilAsync(Func<bool> holds, string what)
    {
        for (var watch = Stopwatch.StartNew(); !holds(); await Task.Delay(20))
        {
            if (watch.Elapsed <= Patience && !process.HasExited)
                continue;
            // Its last lines can come after its end.
            if (process.HasExited)
                await EndAsync();
            Assert.That(holds(), $"The runner did not {what}. It said:\n{Output}\n{errors}");
            return;
        }
    }
}
