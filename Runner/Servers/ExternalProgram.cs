using System.ComponentModel;
using System.Diagnostics;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>A program of the machine, run without a shell.</summary>
/// <param name="Path">Name on the search path, or full path.</param>
/// <param name="User">The user to run it as (only root can); <see langword="null"/>: our own.</param>
/// <param name="Folder">Working folder; <see langword="null"/>: our own.</param>
/// <param name="Variables">
/// Variables that are added to our environment or replace ours; <see langword="null"/> removes one. A password is safer here than on
/// the command line.
/// </param>
public sealed record ExternalProgram(
    string Path, string? User = null, string? Folder = null, IReadOnlyDictionary<string, string?>? Variables = null)
{
    /// <summary>Time to end after an interrupt (SIGINT) when it is cancelled; zero: it is killed at once, as on Windows.</summary>
    public TimeSpan ToEnd { get; init; }

    // EACCES. Windows cannot switch users here, and never returns this number.
    private const int AccessDenied = 13;

    // A server that a program leaves running can hold the pipes open; its later output is not waited for.
    private static readonly TimeSpan OutputGrace = TimeSpan.FromSeconds(10);

    /// <summary>The full path of a program on the search path, or <see langword="null"/>.</summary>
    public static string? OnSearchPath(string name) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Select(folder => System.IO.Path.Combine(folder, FileNameOf(name)))
            .FirstOrDefault(File.Exists);

    /// <summary>The existing folders in which packages install programs. A pattern stands for one folder name.</summary>
    internal static IEnumerable<string> FoldersIn(IEnumerable<(string Parent, string Pattern, string Below)> places) =>
        from place in places
        where System.IO.Path.IsPathRooted(place.Parent) && Directory.Exists(place.Parent)
        from folder in Directory.EnumerateDirectories(place.Parent, place.Pattern)
        select System.IO.Path.Combine(folder, place.Below);

    /// <summary>The file name of a program on this platform.</summary>
    public static string FileNameOf(string name) => OperatingSystem.IsWindows() ? name + ".exe" : name;

    /// <summary>Runs it to its end with captured output and empty input.</summary>
    /// <exception cref="KitException">It cannot be started.</exception>
    /// <exception cref="OperationCanceledException">
    /// Cancelled; the program has ended, or was killed with its children.
    /// </exception>
    public async Task<ProgramResult> RunAsync(IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        using var process = StartOnPipes(arguments);
        process.StandardInput.Close();
        var output = Task.WhenAll(
            process.StandardOutput.ReadToEndAsync(CancellationToken.None),
            process.StandardError.ReadToEndAsync(CancellationToken.None));
        await ExitAsync(process, cancellationToken);
        await Task.WhenAny(output, Task.Delay(OutputGrace, cancellationToken));
        cancellationToken.ThrowIfCancellationRequested();
        return new ProgramResult(process.ExitCode, output.IsCompletedSuccessfully ? string.Join('\n', await output).Trim() : "");
    }

    /// <summary>Starts it with its input, output and errors as pipes; the caller ends and disposes it.</summary>
    /// <exception cref="KitException">It cannot be started.</exception>
    public Process StartOnPipes(IEnumerable<string> arguments)
    {
        var start = StartInfo(arguments);
        start.RedirectStandardInput = start.RedirectStandardOutput = start.RedirectStandardError = true;
        return Start(start);
    }

    /// <summary>Ends a started process: with an interrupt, if it has time for that, and then by killing it with its children.</summary>
    public async Task StopAsync(Process process)
    {
        if (ToEnd > TimeSpan.Zero && !OperatingSystem.IsWindows())
            await InterruptAsync(process);
        process.Kill(entireProcessTree: true);
        await process.WaitForExitAsync(CancellationToken.None);
    }

    /// <summary>Runs it to its end on our own terminal, so that the user sees its output and can answer it; returns the exit code.</summary>
    /// <inheritdoc cref="RunAsync" path="/exception"/>
    public async Task<int> RunOnTerminalAsync(IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        using var process = Start(StartInfo(arguments));
        await ExitAsync(process, cancellationToken);
        return process.ExitCode;
    }

    /// <summary>
    /// Starts it as a server that can outlive us, in a session of its own, so that Ctrl+C on the terminal does not end it before we do
    /// (without the program <c>setsid</c> it stays in our session). It is our child, so its end leaves no zombie.
    /// </summary>
    /// <param name="pidFile">Receives its process id, before it runs.</param>
    /// <exception cref="KitException">It cannot be started.</exception>
    /// <exception cref="PlatformNotSupportedException">There is no shell, as on Windows.</exception>
    public async Task StartServerAsync(string pidFile, string log, IEnumerable<string> arguments)
    {
        if (OperatingSystem.IsWindows())
            throw new PlatformNotSupportedException("A server is started through sh.");
        // Each step replaces the previous one, so that the process id stays the same.
        const string script = "pid=$1; log=$2; shift 2; echo $$ >\"$pid\" && exec \"$@\" </dev/null >>\"$log\" 2>&1";
        IEnumerable<string> command = OnSearchPath("setsid") is { } setsid ? [setsid, Path] : [Path];
        var shell = this with { Path = "/bin/sh" };
        var start = shell.StartInfo(["-c", script, "sh", pidFile, log, .. command, .. arguments]);
        // Without the terminal: the runtime would keep the terminal's settings for the child until the child ends.
        start.RedirectStandardInput = start.RedirectStandardOutput = start.RedirectStandardError = true;
        using var process = shell.Start(start);
        process.StandardInput.Close();
        // Ends when the shell has become the server, or has failed. By then the pid file exists, so that the server can be stopped.
        var said = await process.StandardError.ReadToEndAsync(CancellationToken.None);
        if (said.Length > 0)
            throw new KitException($"The program '{Path}' cannot be started: {LogLines.EndOf(said.Split('\n'))}", OwnedFolder.Remedy);
    }

    private ProcessStartInfo StartInfo(IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo(Path, arguments) { UseShellExecute = false };
        start.Environment["LC_ALL"] = "C";
        foreach (var (name, value) in Variables ?? new Dictionary<string, string?>())
        {
            if (value is null)
                start.Environment.Remove(name);
            else
                start.Environment[name] = value;
        }

        if (Folder is not null)
            start.WorkingDirectory = Folder;
        if (User is not null)
            start.UserName = User;
        return start;
    }

    private Process Start(ProcessStartInfo start)
    {
        try
        {
            return Process.Start(start) ?? throw new InvalidOperationException($"{start.FileName} gave no process.");
        }
        catch (Win32Exception cause)
        {
            throw new KitException(
                $"The program '{Path}' cannot be started: {cause.Message.TrimEnd('.')}.",
                cause.NativeErrorCode == AccessDenied
                    ? $"Let {User ?? Environment.UserName} run it, and enter its working folder {Folder} and every folder above."
                    : "Install it, or put it on the search path.",
                cause);
        }
    }

    private async Task ExitAsync(Process process, CancellationToken cancellationToken)
    {
        try
        {
            await process.WaitForExitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            await StopAsync(process);
            throw;
        }
    }

    // Ctrl+C on a terminal goes to the whole process group, so it has already reached this process. A second one does no harm.
    private async Task InterruptAsync(Process process)
    {
        using var patience = new CancellationTokenSource(ToEnd);
        try
        {
            await new ExternalProgram("/bin/sh").RunAsync(["-c", $"kill -s INT {process.Id}"], patience.Token);
            await process.WaitForExitAsync(patience.Token);
        }
        catch (OperationCanceledException)
        {
            // Its time is over.
        }
    }
}

/// <summary>The result of a program that has ended.</summary>
/// <param name="Output">Standard output and standard error, trimmed.</param>
public sealed record ProgramResult(int ExitCode, string Output)
{
    public bool Succeeded => ExitCode == 0;
}

/// <summary>The lines of a log, or of a program's output.</summary>
public static class LogLines
{
    private const int LinesShown = 5;

    /// <summary>The last lines, as one line for a message.</summary>
    public static string EndOf(IEnumerable<string> lines) =>
        string.Join(" / ", lines.Select(line => line.Trim()).Where(line => line.Length > 0).TakeLast(LinesShown));

    /// <summary>The last lines of a file that a server may still be writing.</summary>
    public static string EndOfFile(string file) => File.Exists(file) ? EndOf(File.ReadLines(file)) : "(empty)";
}
