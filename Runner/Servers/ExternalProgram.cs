using System.ComponentModel;
using System.Diagnostics;

namespace Kit.Runner.Servers;

/// <summary>A program of the machine, run without a shell.</summary>
/// <param name="Path">Its name on the search path, or its full path.</param>
/// <param name="User">The user to run it as (only root can); <see langword="null"/>: our own.</param>
/// <param name="Folder">Its working folder; <see langword="null"/>: our own.</param>
/// <param name="Variables">Added to its environment, where passwords are safer than on a command line.</param>
public sealed record ExternalProgram(string Path, string? User = null, string? Folder = null, IReadOnlyDictionary<string, string>? Variables = null)
{
    // EACCES. Windows has no users to switch to here, and never answers with this number.
    private const int AccessDenied = 13;

    // A server that a program leaves running can hold the pipes open; what it still writes there is not waited for.
    private static readonly TimeSpan OutputGrace = TimeSpan.FromSeconds(2);

    /// <summary>The full path of a program on the search path, or <see langword="null"/>.</summary>
    public static string? OnSearchPath(string name) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Select(folder => System.IO.Path.Combine(folder, FileNameOf(name)))
            .FirstOrDefault(File.Exists);

    /// <summary>The file name of a program on this platform.</summary>
    public static string FileNameOf(string name) => OperatingSystem.IsWindows() ? name + ".exe" : name;

    /// <summary>Runs it to its end with its output captured and nothing on its input.</summary>
    /// <exception cref="KitException">It cannot be started.</exception>
    /// <exception cref="OperationCanceledException">Cancelled; the program and its children were killed.</exception>
    public async Task<ProgramResult> RunAsync(IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        var start = StartInfo(arguments);
        start.RedirectStandardInput = start.RedirectStandardOutput = start.RedirectStandardError = true;
        using var process = Start(start);
        process.StandardInput.Close();
        var output = Task.WhenAll(
            process.StandardOutput.ReadToEndAsync(CancellationToken.None),
            process.StandardError.ReadToEndAsync(CancellationToken.None));
        await ExitAsync(process, cancellationToken);
        await Task.WhenAny(output, Task.Delay(OutputGrace, cancellationToken));
        return new ProgramResult(process.ExitCode, output.IsCompletedSuccessfully ? string.Join('\n', await output).Trim() : "");
    }

    /// <summary>Runs it to its end on our own terminal, so that its user sees its output and can answer it; gives the exit code.</summary>
    /// <inheritdoc cref="RunAsync" path="/exception"/>
    public async Task<int> RunOnTerminalAsync(IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        using var process = Start(StartInfo(arguments));
        await ExitAsync(process, cancellationToken);
        return process.ExitCode;
    }

    private ProcessStartInfo StartInfo(IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo(Path, arguments) { UseShellExecute = false };
        start.Environment["LC_ALL"] = "C";
        foreach (var (name, value) in Variables ?? new Dictionary<string, string>())
            start.Environment[name] = value;
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

    private static async Task ExitAsync(Process process, CancellationToken cancellationToken)
    {
        try
        {
            await process.WaitForExitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            await process.WaitForExitAsync(CancellationToken.None);
            throw;
        }
    }
}
