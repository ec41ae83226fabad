using System.ComponentModel;
using System.Diagnostics;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Prove.Service;

/// <summary>A running program of the user, with everything that it starts. It has a session of its own where the machine has <c>setsid</c>.</summary>
internal sealed class ApplicationProcess : IAsyncDisposable
{
    private const int MostLines = 12;
    private const int MostLinesInAMessage = 5;

    // A program that the process leaves running can hold its output open.
    private static readonly TimeSpan ToEnd = TimeSpan.FromSeconds(5);

    private readonly Process process;
    private readonly LastLines last = new(MostLines);
    private bool isKilled;

    private ApplicationProcess(Process process, Action<string> said)
    {
        this.process = process;
        void See(object sender, DataReceivedEventArgs line)
        {
            if (string.IsNullOrWhiteSpace(line.Data))
                return;
            last.Add(line.Data);
            said(line.Data);
        }

        process.OutputDataReceived += See;
        process.ErrorDataReceived += See;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public int Id => process.Id;

    public bool HasEnded => process.HasExited;

    /// <summary>Only when it has ended.</summary>
    public int ExitCode => process.ExitCode;

    /// <summary>Only when it has ended.</summary>
    public DateTime EndedUtc => process.ExitTime.ToUniversalTime();

    /// <summary>
    /// The last output of the user's service, on one line. The last lines of one that has ended can come after its end, or never, if a child of it has its
    /// output: they have some seconds.
    /// </summary>
    public string LastOutput
    {
        get
        {
            if (HasEnded)
                EndAsync(CancellationToken.None).Wait(ToEnd);
            return OutputOf("The service");
        }
    }

    /// <param name="id">The message of the program; <see langword="null"/>: none.</param>
    /// <exception cref="KitException">There is no such program, or it may not be started.</exception>
    public static ApplicationProcess Start(ProgramToStart program, Placeholders placeholders, Guid? id, Action<string> said)
    {
        List<string> command = [.. program.Command.Select(part => placeholders.Fill(part, id))];
        // A name alone is looked up on the search path; a path is relative to the program's folder.
        if (command[0].Contains('/', StringComparison.Ordinal))
            command[0] = Path.GetFullPath(Path.Combine(program.Folder, command[0]));
        var missing = Path.IsPathRooted(command[0]) ? !File.Exists(command[0]) : ExternalProgram.OnSearchPath(command[0]) is null;
        if (missing)
            throw CannotStart(program, "there is no such program", cause: null);

        if (ServiceGuard.Setsid is { } setsid)
            command.Insert(0, setsid);
        var start = new ProcessStartInfo(command[0], command.Skip(1))
        {
            UseShellExecute = false,
            WorkingDirectory = program.Folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in program.Environment)
            start.Environment[name] = placeholders.Fill(value, id);
        try
        {
            var started = Process.Start(start)!;
            ServiceGuard.Begin(started.Id);
            started.StandardInput.Close();
            return new ApplicationProcess(started, said);
        }
        catch (Win32Exception failure)
        {
            throw CannotStart(program, failure.Message, failure);
        }
    }

    /// <summary>Runs a program to its end, which is its success with exit code 0.</summary>
    /// <param name="key">The key of the file that names it.</param>
    /// <param name="limit">Time after which it is killed.</param>
    /// <returns>The reason why it failed; <see langword="null"/>: it has not.</returns>
    /// <inheritdoc cref="Start" path="/param"/>
    /// <inheritdoc cref="Start" path="/exception"/>
    public static async Task<string?> RunAsync(
        ProgramToStart program, Placeholders placeholders, Guid? id, string key, TimeSpan limit, CancellationToken cancellationToken)
    {
        await using var running = Start(program, placeholders, id, _ => { });
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(limit);
        try
        {
            await running.EndAsync(patience.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return $"the command of '{key}' did not end within {limit.TotalSeconds} s. It must not wait for the application. " +
                $"{running.OutputOf("The command")}";
        }

        return running.ExitCode == 0 ? null : $"the command of '{key}' ended with exit code {running.ExitCode}. {running.OutputOf("The command")}";
    }

    /// <summary>The last output, on one line.</summary>
    /// <param name="who">The program, as a sentence begins with it.</param>
    public string OutputOf(string who) => last.Kept is { Count: > 0 } lines
        ? $"Its last output: {string.Join(" | ", lines.TakeLast(MostLinesInAMessage).Select(line => line.Trim()))}"
        : $"{who} printed nothing.";

    /// <summary>Waits for its end.</summary>
    public Task EndAsync(CancellationToken cancellationToken) => process.WaitForExitAsync(cancellationToken);

    /// <summary>Kills it with SIGKILL, with all processes that it has started: they can do nothing more.</summary>
    /// <returns>The exit code: 137 (128 + 9) after a SIGKILL.</returns>
    public async Task<int> KillAsync()
    {
        if (isKilled)
            return process.ExitCode;

        isKilled = true;
        process.Kill(entireProcessTree: true);
        // Also those whose parents have ended. A machine need not have a program of that name, and each shell has the command.
        if (ServiceGuard.Setsid is not null)
            await new ExternalProgram("/bin/sh").RunAsync(["-c", $"kill -s KILL -- -{process.Id}"], CancellationToken.None);
        ServiceGuard.End(process.Id);
        using var patience = new CancellationTokenSource(ToEnd);
        await process.WaitForExitAsync(patience.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        await KillAsync();
        process.Dispose();
    }

    private static KitException CannotStart(ProgramToStart program, string because, Exception? cause) => new(
        $"'{program.Command[0]}' cannot be started: {because}.",
        $"It is looked up on the search path, or relative to {program.Folder} if it contains a slash.", cause)
    { IsUsage = true };
}
