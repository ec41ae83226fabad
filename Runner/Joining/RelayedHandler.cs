using System.Text.Json;
using Kit.Runner.Stage;
using Kit.Runner.Transports;

namespace Kit.Runner.Joining;

/// <summary>A handler process that a worker runs for the run.</summary>
internal sealed class RelayedHandler
{
    private readonly Action<string?, bool> tell;
    private readonly List<int> handled = [];
    private LocalHandler? handler;
    private Task hearing = Task.CompletedTask;

    /// <param name="tell">Gets each line of the process, and whether it is progress; <see langword="null"/>: the process has ended.</param>
    public RelayedHandler(Action<string?, bool> tell) => this.tell = tell;

    /// <summary>The name of its cell.</summary>
    public string Cell { get; private set; } = "";

    /// <summary>How many it handled in each drain that has ended: the warm-up, then the messages of the round.</summary>
    public IReadOnlyList<int> HandledInDrains => handled;

    /// <summary>Starts the process and says what it must run.</summary>
    /// <param name="order">The run's first line.</param>
    /// <param name="arguments">The servers as this machine reaches them.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    public async Task StartAsync(string order, TransportArguments arguments, CancellationToken cancellationToken)
    {
        try
        {
            var parsed = WorkerOrder.Parse(order);
            var spec = parsed.SpecWith(arguments);
            Cell = spec.Cell;
            handler = LocalHandler.Start(parsed.IsTiered);
            await handler.OrderAsync(spec, cancellationToken);
            hearing = HearAsync(handler);
        }
        catch (Exception failure) when (failure is InvalidOperationException or JsonException or System.ComponentModel.Win32Exception)
        {
            tell(JsonSerializer.Serialize<HandlerEvent>(new HandlerFailed(failure.Message)), arg2: false);
            tell(arg1: null, arg2: false);
        }
    }

    /// <summary>Passes on a line of the run.</summary>
    public Task SayAsync(string line, CancellationToken cancellationToken) => handler?.SayAsync(line, cancellationToken) ?? Task.CompletedTask;

    /// <summary>Closes the process's input, which stops an endpoint that runs, and waits until the process has ended.</summary>
    public async Task EndAsync()
    {
        if (handler is null)
            return;
        await handler.EndAsync();
        await hearing;
        await handler.DisposeAsync();
    }

    private async Task HearAsync(LocalHandler process)
    {
        while (await process.HearAsync() is { } line)
        {
            var heard = EventIn(line);
            if (heard is HandlerStopped end)
                handled.Add(end.Report.Handled);
            tell(line, heard is HandlerProgress);
        }

        tell(arg1: null, arg2: false);
    }

    private static HandlerEvent? EventIn(string line)
    {
        try
        {
            return JsonSerializer.Deserialize<HandlerEvent>(line);
        }
        catch (JsonException)
        {
            // The run says what is wrong with it.
            return null;
        }
    }
}
