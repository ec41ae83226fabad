using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Servers;

namespace Kit.Runner.Comparing;

/// <summary>
/// A build's own <c>run</c> command, in one process from its first round to its last. It measures a round whenever it is told to, and
/// idles while the other build has its turn.
/// </summary>
internal sealed class RunningBuild : IAsyncDisposable
{
    // Its endpoint stops, its databases are dropped; less than the minute that this process has for all after Ctrl+C.
    private static readonly TimeSpan ToStop = TimeSpan.FromSeconds(30);

    private readonly Build build;
    private readonly ExternalProgram program;
    private readonly Process process;
    private readonly LastLines said = new(most: 50);
    private readonly ErrorPipe errors;
    private bool hasEnded;

    private RunningBuild(Build build, ExternalProgram program, Process process, string folder)
    {
        this.build = build;
        this.program = program;
        this.process = process;
        Folder = folder;
        errors = new ErrorPipe(process, said);
    }

    /// <summary>Where it keeps its run.</summary>
    public string Folder { get; }

    /// <summary>Starts it and waits until it has probed its cells and seeded its rows.</summary>
    /// <param name="build">Whose command.</param>
    /// <param name="servers">The variables that name the servers; where passwords are safer than on a command line.</param>
    /// <param name="arguments">Cells and sizes, as <c>run</c> takes them.</param>
    /// <param name="folder">A new one for its run.</param>
    /// <param name="onLine">Gets the lines that it prints until then.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="KitException">It refused or broke.</exception>
    /// <exception cref="OperationCanceledException">It was stopped, and has cleaned up.</exception>
    public static async Task<RunningBuild> StartAsync(
        Build build,
        IReadOnlyDictionary<string, string?> servers,
        IEnumerable<string> arguments,
        string folder,
        Action<string> onLine,
        CancellationToken cancellationToken)
    {
        var runner = new ExternalProgram(build.Program, Variables: servers) { ToEnd = ToStop };
        var running = new RunningBuild(build, runner, runner.StartOnPipes(["run", .. arguments, Turns.Option, "--out", folder]), folder);
        try
        {
            await running.ReadyAsync(onLine, cancellationToken);
            return running;
        }
        catch
        {
            await running.DisposeAsync();
            throw;
        }
    }

    /// <summary>Has it measure and save one round.</summary>
    /// <inheritdoc cref="StartAsync" path="/exception"/>
    public async Task MeasureAsync(CellName cell, int round, CancellationToken cancellationToken)
    {
        await SayAsync(Turns.LineOf(cell, round));
        await ReadyAsync(_ => { }, cancellationToken);
    }

    /// <summary>Lets it end its run: remove its databases, write its reports.</summary>
    /// <returns>Whether it says that all went well, of every cell that it was asked for.</returns>
    /// <exception cref="KitException">It broke while it ended.</exception>
    public async Task<bool> EndAsync(CancellationToken cancellationToken)
    {
        await SayAsync(Turns.End);
        while (await ReadLineAsync(cancellationToken) is not null)
        {
            // What it prints of its own results is printed over both builds' results here.
        }

        await ExitAsync(cancellationToken);
        if (process.ExitCode is not (ExitCode.Success or ExitCode.Failure) || said.Kept.Any(IsError))
            throw Refused();

        return process.ExitCode == ExitCode.Success;
    }

    /// <summary>Interrupts it where it has not ended, as Ctrl+C does; without signals, on Windows, it ends with its input.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!hasEnded)
        {
            process.StandardInput.Close();
            if (OperatingSystem.IsWindows())
                await Task.WhenAny(process.WaitForExitAsync(), Task.Delay(ToStop));
            await program.StopAsync(process);
        }

        hasEnded = true;
        await errors.EndAsync(CancellationToken.None);
        process.Dispose();
    }

    private async Task SayAsync(string line)
    {
        try
        {
            await process.StandardInput.WriteLineAsync(line);
            await process.StandardInput.FlushAsync();
        }
        catch (IOException)
        {
            // It has ended; the reading side knows more and says so.
        }
    }

    private async Task ReadyAsync(Action<string> onLine, CancellationToken cancellationToken)
    {
        while (await ReadLineAsync(cancellationToken) is { } line)
        {
            if (line == Turns.Ready)
                return;
            onLine(line);
        }

        await ExitAsync(cancellationToken);
        throw Refused();
    }

    private async Task ExitAsync(CancellationToken cancellationToken)
    {
        await process.WaitForExitAsync(cancellationToken);
        hasEnded = true;
        await errors.EndAsync(cancellationToken);
    }

    private static bool IsError(string line) => line.StartsWith("error: ", StringComparison.Ordinal);

    private async Task<string?> ReadLineAsync(CancellationToken cancellationToken)
    {
        var line = await process.StandardOutput.ReadLineAsync(cancellationToken);
        if (line is not null)
            said.Add(line);
        return line;
    }

    private KitException Refused()
    {
        var lines = said.Kept;
        var failure = lines.SkipWhile(line => !IsError(line)).Take(2).ToList();
        return new KitException(
            $"The build in {build.Folder} does not run, and ended with exit code {process.ExitCode}: "
            + (failure.Count > 0 ? failure[0]["error: ".Length..] : LogLines.EndOf(lines)),
            failure is [_, var remedy] && remedy.StartsWith("  → ", StringComparison.Ordinal)
                ? remedy["  → ".Length..]
                : process.ExitCode == ExitCode.Usage
                ? "Take a newer commit: this one cannot take turns yet, or does not know a cell that was named."
                : $"Run it by itself to see more: {build.Program} run");
    }
}
