using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Text.Json;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds;

/// <summary>A handler process, seen from the runner. One for each round.</summary>
internal sealed class HandlerProcess : IAsyncDisposable
{
    public const string Command = "handle";

    private static readonly TimeSpan ToStart = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan ToStop = TimeSpan.FromSeconds(60);

    private readonly Process process;
    private readonly TaskCompletionSource ready = Once();
    private readonly TaskCompletionSource broken = Once();
    private readonly LastLines lastErrors = new(most: 5);
    private readonly ErrorPipe errors;
    private readonly Task reading;
    private TaskCompletionSource<DrainReport> stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int handled;
    private long heapBytes;

    private HandlerProcess(Process process)
    {
        this.process = process;
        errors = new ErrorPipe(process, lastErrors);
        reading = ReadAsync();
    }

    public int Id => process.Id;

    /// <summary>Handlers that returned since <see cref="StartEndpointAsync"/>; up to a quarter of a second old.</summary>
    public int Handled => Volatile.Read(ref handled);

    /// <summary>Called when <see cref="Handled"/> is new; it must be quick.</summary>
    public Action? Progressed { get; set; }

    /// <summary>The process's managed heap after its last collection; <see langword="null"/> before the first.</summary>
    public long? HeapBytes => Volatile.Read(ref heapBytes) is > 0 and var bytes ? bytes : null;

    /// <summary>Whether <see cref="ThrowIfBroken"/> would throw.</summary>
    public bool IsBroken => broken.Task.IsFaulted;

    /// <param name="spec">What it must run.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <param name="isTiered">Whether it runs with tiered compilation.</param>
    /// <exception cref="KitException">The process does not start.</exception>
    public static async Task<HandlerProcess> StartAsync(HandlerSpec spec, CancellationToken cancellationToken, bool isTiered = false)
    {
        var itself = Environment.ProcessPath!;
        var start = new ProcessStartInfo(itself)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // Started as "dotnet Kit.Runner.dll", or within a test, this process is not the runner's own program.
        if (Path.GetFileName(itself) != ExternalProgram.FileNameOf(Assembly.GetExecutingAssembly().GetName().Name!))
            start.ArgumentList.Add(Assembly.GetExecutingAssembly().Location);

        start.ArgumentList.Add(Command);
        // The variable overrides the build's setting, and replaces the one that this process was started with.
        start.Environment["DOTNET_TieredCompilation"] = isTiered ? "1" : "0";
        var handler = new HandlerProcess(Process.Start(start)!);
        try
        {
            await handler.SayAsync(JsonSerializer.Serialize(spec), cancellationToken);
            await handler.UnlessBrokenAsync(handler.ready.Task, ToStart, cancellationToken);
            return handler;
        }
        catch (Exception failure)
        {
            await handler.DisposeAsync();
            if (failure is TimeoutException)
                throw new KitException(
                    $"The handler process did not start within {ToStart.TotalSeconds} s.",
                    "The machine is very busy: close other programs.",
                    failure);
            throw;
        }
    }

    /// <summary>Builds a new endpoint and starts it.</summary>
    /// <param name="messages">How many messages wait for it; 0 if unknown.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    public Task StartEndpointAsync(int messages, CancellationToken cancellationToken)
    {
        ThrowIfBroken();
        stopped = new TaskCompletionSource<DrainReport>(TaskCreationOptions.RunContinuationsAsynchronously);
        Volatile.Write(ref handled, 0);
        return SayAsync(string.Create(CultureInfo.InvariantCulture, $"{HandlerProgram.Start} {messages}"), cancellationToken);
    }

    /// <summary>Stops the endpoint after its current messages, and closes its connections.</summary>
    /// <exception cref="KitException">The process broke, or does not stop within a minute.</exception>
    public async Task<DrainReport> StopEndpointAsync(CancellationToken cancellationToken)
    {
        await SayAsync(HandlerProgram.Stop, cancellationToken);
        try
        {
            await UnlessBrokenAsync(stopped.Task, ToStop, cancellationToken);
            return await stopped.Task;
        }
        catch (TimeoutException late)
        {
            throw new KitException(
                $"The endpoint did not stop within {ToStop.TotalSeconds} s.",
                "Find out what its handlers wait for: locks in the database, or a handler that never returns.",
                late);
        }
    }

    /// <exception cref="KitException">The process has ended unexpectedly or reported a failure.</exception>
    public void ThrowIfBroken()
    {
        if (IsBroken)
            broken.Task.GetAwaiter().GetResult();
    }

    /// <summary>Kills the process with SIGKILL: it can do nothing more.</summary>
    /// <returns>Its exit code: 137 (128 + 9) after a SIGKILL.</returns>
    public async Task<int> KillAsync()
    {
        process.Kill();
        await process.WaitForExitAsync();
        return process.ExitCode;
    }

    /// <summary>Closes the process's input, and kills the process if that does not end it.</summary>
    public async ValueTask DisposeAsync()
    {
        await ChildProcess.EndAsync(process);
        await reading;
        process.Dispose();
    }

    private static TaskCompletionSource Once() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private async Task SayAsync(string line, CancellationToken cancellationToken)
    {
        try
        {
            await process.StandardInput.WriteLineAsync(line.AsMemory(), cancellationToken);
            await process.StandardInput.FlushAsync(cancellationToken);
        }
        catch (IOException)
        {
            // It has ended; the reading side reports why.
        }
    }

    private async Task ReadAsync()
    {
        string reason;
        try
        {
            reason = await ReadEventsAsync();
        }
        catch (JsonException)
        {
            reason = "its output contains a line that is not an event";
        }

        // Both streams end with the process, and its last output explains most.
        await errors.EndAsync(CancellationToken.None);
        broken.SetException(new KitException($"The handler process failed: {reason.TrimEnd('.')}.", LastErrors()));
        _ = broken.Task.Exception;
    }

    /// <summary>Reads until the process ends, and returns the reason.</summary>
    private async Task<string> ReadEventsAsync()
    {
        var reason = "it ended unexpectedly";
        while (await process.StandardOutput.ReadLineAsync() is { } line)
        {
            switch (JsonSerializer.Deserialize<HandlerEvent>(line))
            {
                case HandlerReady:
                    ready.TrySetResult();
                    break;
                case HandlerProgress progress:
                    Volatile.Write(ref handled, progress.Handled);
                    Volatile.Write(ref heapBytes, progress.HeapBytes);
                    Progressed?.Invoke();
                    break;
                case HandlerStopped end:
                    stopped.TrySetResult(end.Report);
                    break;
                case HandlerFailed failure:
                    reason = failure.Reason;
                    break;
            }
        }

        return reason;
    }

    private async Task UnlessBrokenAsync(Task awaited, TimeSpan limit, CancellationToken cancellationToken) =>
        await await Task.WhenAny(awaited, broken.Task).WaitAsync(limit, cancellationToken);

    private string LastErrors() => lastErrors.Kept is { Count: > 0 } kept
        ? $"Its last output: {string.Join(" | ", kept.Select(line => line.Trim()))}"
        : "Run the cell alone, with --verbose.";
}
