using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds.Comparing;

/// <summary>
/// A build's own <c>run</c> command, in one process from its first round to its last. It measures a round on request, and
/// is idle while the other build has its turn.
/// </summary>
internal sealed class RunningBuild : IAsyncDisposable
{
    // Time to stop its endpoint and drop its databases: less than the minute that this process has after Ctrl+C.
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

    /// <summary>The folder of its run.</summary>
    public string Folder { get; }

    /// <summary>Starts it and waits until it has probed its cells and seeded its rows.</summary>
    /// <param name="build">Whose command.</param>
    /// <param name="servers">The variables that name the servers: passwords are safer there than on a command line.</param>
    /// <param name="arguments">Cells and sizes, as options of <c>run</c>.</param>
    /// <param name="folder">A new folder for its run.</param>
    /// <param name="onLine">Receives the lines that it prints until then.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="KitException">It refused or failed.</exception>
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

    /// <summary>Makes it measure and save one round.</summary>
    /// <inheritdoc cref="StartAsync" path="/exception"/>
    public async Task MeasureAsync(CellName cell, int round, CancellationToken cancellationToken)
    {
        await SayAsync(Turns.LineOf(cell, round));
        await ReadyAsync(_ => { }, cancellationToken);
    }

    /// <summary>Lets it end its run: remove its databases, write its reports.</summary>
    /// <returns>True if it reports success for every requested cell.</returns>
    /// <exception cref="KitException">It failed while it ended.</exception>
    public async Task<bool> EndAsync(CancellationToken cancellationToken)
    {
        await SayAsync(Turns.End);
        while (await ReadLineAsync(cancellationToken) is not null)
        {
            // It prints its own results; this process prints those of both builds.
        }

        await ExitAsync(cancellationToken);
        if (process.ExitCode is not (ExitCode.Success or ExitCode.Failure) || said.Kept.Any(IsError))
            throw Refused();

        return process.ExitCode == ExitCode.Success;
    }

    /// <summary>Interrupts it like Ctrl+C if it has not ended. On Windows, without signals, closing its input ends it.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!hasEnded)
        {
            ChildProcess.CloseInput(process);
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
            // It has ended; the reading side reports why.
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
            $"The build in {build.Folder} failed with exit code {process.ExitCode}: "
            + (failure.Count > 0 ? failure[0]["error: ".Length..] : LogLines.EndOf(lines)),
            failure is [_, var remedy] && remedy.StartsWith("  → ", StringComparison.Ordinal)
                ? remedy["  → ".Length..]
                : process.ExitCode == ExitCode.Usage
                ? "Use a newer commit: this one cannot run in turns yet, or does not know one of the named cells."
                : $"To see more, run it alone: {build.Program} run");
    }
}
