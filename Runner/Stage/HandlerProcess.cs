using System.Globalization;
using System.Text.Json;
using Kit.Runner.Measuring;
using Kit.Runner.Results;

namespace Kit.Runner.Stage;

/// <summary>A handler process, seen from the runner. One for each round.</summary>
internal sealed class HandlerProcess : IAsyncDisposable
{
    public const string Command = "handle";

    // On a machine that others keep busy a process of .NET was seen to need more than a minute. One that ends is found at once.
    private static readonly TimeSpan ToStart = TimeSpan.FromMinutes(3);
    private static readonly TimeSpan ToStop = TimeSpan.FromSeconds(60);

    private readonly IHandlerLines lines;
    private readonly TaskCompletionSource ready = Once();
    private readonly TaskCompletionSource broken = Once();
    private readonly Task reading;
    private TaskCompletionSource<DrainReport> stopped = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int entered;
    private int handled;
    private int failed;
    private long heapBytes;

    private HandlerProcess(IHandlerLines lines)
    {
        this.lines = lines;
        reading = ReadAsync();
    }

    /// <summary>Its id on this machine.</summary>
    /// <exception cref="InvalidOperationException">It is on another machine.</exception>
    public int Id => Local.Id;

    /// <summary>True if it is on this machine.</summary>
    public bool IsLocal => lines is LocalHandler;

    /// <summary>Handlers that were entered since <see cref="StartEndpointAsync"/>; up to a quarter of a second old.</summary>
    public int Entered => Volatile.Read(ref entered);

    /// <summary>Handlers that returned since then.</summary>
    public int Handled => Volatile.Read(ref handled);

    /// <summary>Handlers that threw since then.</summary>
    public int Failed => Volatile.Read(ref failed);

    /// <summary>Called when <see cref="Handled"/> is new; it must be quick.</summary>
    public Action? Progressed { get; set; }

    /// <summary>The process's managed heap after its last collection; <see langword="null"/> before the first.</summary>
    public long? HeapBytes => Volatile.Read(ref heapBytes) is > 0 and var bytes ? bytes : null;

    /// <summary>True if <see cref="ThrowIfBroken"/> would throw.</summary>
    public bool IsBroken => broken.Task.IsFaulted;

    private LocalHandler Local => lines as LocalHandler ?? throw new InvalidOperationException("The handler process is on another machine.");

    /// <summary>Starts one on this machine.</summary>
    /// <exception cref="KitException">The process does not start.</exception>
    public static Task<HandlerProcess> StartAsync(HandlerSpec spec, CancellationToken cancellationToken, bool isTiered = false) =>
        StartAsync(LocalHandler.Start(isTiered), spec, cancellationToken);

    /// <summary>Gives a process that has just been started its specification, and waits until it is ready.</summary>
    /// <param name="lines">To and from the process. They are ended with this, and if it does not become ready.</param>
    /// <inheritdoc cref="StartAsync(HandlerSpec, CancellationToken, bool)"/>
    public static async Task<HandlerProcess> StartAsync(IHandlerLines lines, HandlerSpec spec, CancellationToken cancellationToken)
    {
        var handler = new HandlerProcess(lines);
        try
        {
            await lines.OrderAsync(spec, cancellationToken);
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
    /// <param name="messages">Messages that wait for it; 0 if unknown.</param>
    public Task StartEndpointAsync(int messages, CancellationToken cancellationToken)
    {
        ThrowIfBroken();
        stopped = new TaskCompletionSource<DrainReport>(TaskCreationOptions.RunContinuationsAsynchronously);
        Volatile.Write(ref entered, 0);
        Volatile.Write(ref handled, 0);
        Volatile.Write(ref failed, 0);
        return lines.SayAsync(string.Create(CultureInfo.InvariantCulture, $"{HandlerProgram.Start} {messages}"), cancellationToken);
    }

    /// <summary>Stops the endpoint after its current messages, and closes its connections.</summary>
    /// <exception cref="KitException">The process broke, or does not stop within a minute.</exception>
    public async Task<DrainReport> StopEndpointAsync(CancellationToken cancellationToken)
    {
        await lines.SayAsync(HandlerProgram.Stop, cancellationToken);
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
    /// <exception cref="InvalidOperationException">It is on another machine.</exception>
    public Task<int> KillAsync() => Local.KillAsync();

    /// <summary>Closes the process's input, and kills the process if that does not end it.</summary>
    public async ValueTask DisposeAsync()
    {
        await lines.EndAsync();
        await reading;
        await lines.DisposeAsync();
    }

    private static TaskCompletionSource Once() => new(TaskCreationOptions.RunContinuationsAsynchronously);

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
        catch (WorkerLostException lost)
        {
            Break(lost);
            return;
        }

        Break(new KitException($"The handler process failed: {reason.TrimEnd('.')}.", await lines.ReadRemedyAsync()));
    }

    private void Break(Exception cause)
    {
        broken.SetException(cause);
        _ = broken.Task.Exception;
    }

    /// <summary>Reads until the process ends, and returns the reason.</summary>
    private async Task<string> ReadEventsAsync()
    {
        var reason = "it ended unexpectedly";
        while (await lines.HearAsync() is { } line)
        {
            switch (JsonSerializer.Deserialize<HandlerEvent>(line))
            {
                case HandlerReady:
                    ready.TrySetResult();
                    break;
                case HandlerProgress progress:
                    Volatile.Write(ref entered, progress.Entered);
                    Volatile.Write(ref handled, progress.Handled);
                    Volatile.Write(ref failed, progress.Failed);
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
}
