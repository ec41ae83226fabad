using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Results;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Runner.Stage;

/// <summary>
/// The handler process: reads its specification, then obeys <c>start</c> (with the number of waiting messages) and <c>stop</c>. Each start has a
/// new endpoint with new connections. It ends with its standard input, so that it never outlives the runner.
/// </summary>
internal sealed class HandlerProgram(TextReader input, TextWriter output)
{
    public const string Start = "start";
    public const string Stop = "stop";

    // Timers, the driver's reads, standard input.
    private const int ThreadsOfOthers = 8;

    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(250);

    private readonly Lock writing = new();

    public async Task<int> RunAsync()
    {
        // Ctrl+C on a terminal goes to every process of the group, and so can SIGTERM and SIGHUP; the runner decides when this process ends.
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => signal.Cancel = true);
        using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal => signal.Cancel = true);
        using var hangUp = PosixSignalRegistration.Create(PosixSignal.SIGHUP, signal => signal.Cancel = true);
        try
        {
            var spec = JsonSerializer.Deserialize<HandlerSpec>(await input.ReadLineAsync() ?? "null")
                       ?? throw new InvalidOperationException("The handler process received no specification.");
            var cell = Cell.Find(spec.Cell) ?? throw new InvalidOperationException($"The handler process knows no cell {spec.Cell}.");
            if (spec.Process is { } number)
                WidgetId.Process = number;
            AllowThreads(spec.Concurrency);
            Say(new HandlerReady());
            while (await input.ReadLineAsync() is { } line && line.Split(' ') is [Start, var messages])
                await DrainAsync(spec, cell, int.Parse(messages, CultureInfo.InvariantCulture));

            return ExitCode.Success;
        }
        catch (Exception failure)
        {
            Say(new HandlerFailed(KitException.MessageOf(failure)));
            return ExitCode.Failure;
        }
    }

    private async Task DrainAsync(HandlerSpec spec, Cell cell, int messages)
    {
        await using var experiment = spec.Experiment is null ? null : IExperimentHandler.Of(spec.Experiment, cell);
        HandleMessage handle = experiment is null ? cell.CreateHandler(spec.Queue) : experiment.HandleAsync;
        var slow = cell.Condition.IsOneSlow ? new SlowHandler(handle, messages) : null;
        await using var clock = spec.AsksServerForItsEntry ? await FirstEntryClock.OpenAsync(slow is null ? handle : slow.HandleAsync, spec.Widgets) : null;
        using var probe = new HandlerProbe(
            clock is not null ? clock.HandleAsync : slow is not null ? slow.HandleAsync : handle,
            spec.RecordCompletions,
            spec.KeepsPhases ? [.. PhaseInstrument.OfEveryFramework, .. cell.Kind.Instruments] : [],
            messages);
        var host = Build(spec, cell, probe.HandleAsync);
        await using ((IAsyncDisposable)host)
        {
            await host.StartAsync();
            await using (new Timer(_ => SayProgress(probe), state: null, ProgressInterval, ProgressInterval))
                await input.ReadLineAsync();

            await host.StopAsync();
        }

        var report = probe.Report() with { OneHasWaited = slow?.HasWaited };
        Say(new HandlerStopped(clock is null ? report : report with { FirstEntryUtc = await clock.ReadAsync() }));
    }

    /// <summary>The host of one drain, not yet started.</summary>
    internal static IHost Build(HandlerSpec spec, Cell cell, HandleMessage handle)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        // Standard output carries the events to the runner.
        builder.Logging.AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace).SetMinimumLevel(LogLevel.Warning);
        var settings = cell.EndpointOn(spec.Queue, spec.Transport, spec.Widgets, spec.Concurrency) with
        {
            TransactionTimeout = spec.TransactionTimeout ?? TransactionTimeout.Default,
        };
        cell.Kind.AddEndpoint(builder.Services, settings, handle);
        return builder.Build();
    }

    /// <summary>
    /// Lets every handler hold a thread: the driver commits an enlisted connection on the thread that ends the scope. Up to 8 handlers have enough in
    /// the threads of every process.
    /// </summary>
    private static void AllowThreads(int concurrency)
    {
        ThreadPool.GetMinThreads(out var threads, out var completions);
        ThreadPool.SetMinThreads(Math.Max(threads, concurrency + ThreadsOfOthers), completions);
    }

    private void SayProgress(HandlerProbe probe) =>
        Say(new HandlerProgress(probe.Entered, probe.Handled, probe.Failed, GC.GetGCMemoryInfo(GCKind.Any).HeapSizeBytes));

    private void Say(HandlerEvent saying)
    {
        lock (writing)
        {
            try
            {
                output.WriteLine(JsonSerializer.Serialize(saying));
                output.Flush();
            }
            catch (IOException)
            {
                // The runner has ended. The input ends too, and then the endpoint is stopped.
            }
        }
    }
}
