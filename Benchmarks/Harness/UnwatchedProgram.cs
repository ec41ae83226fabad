using System.Runtime.InteropServices;
using System.Text.Json;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Harness;

/// <summary>
/// The other side of <see cref="UnwatchedHandler"/>: reads a specification, then for each number drains that many messages with a new
/// endpoint, as the handler process does. Apart from the endpoint it only counts messages, to know when to stop.
/// </summary>
internal static class UnwatchedProgram
{
    public const string Command = "unwatched";
    public const string Done = "done";

    public static async Task<int> RunAsync()
    {
        // Ctrl+C on a terminal goes to every process of the group; this process ends when its parent closes the input.
        using var ignored = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => signal.Cancel = true);
        using var input = new StreamReader(Console.OpenStandardInput());
        var spec = JsonSerializer.Deserialize<HandlerSpec>(await input.ReadLineAsync() ?? "null")!;
        var cell = Cell.All.Single(cell => cell.Name == spec.Cell);
        var next = input.ReadLineAsync();
        while (await next is { } messages)
        {
            next = input.ReadLineAsync();
            await DrainAsync(spec, cell, int.Parse(messages), next);
            await Console.Out.WriteLineAsync(Done);
        }

        return ExitCode.Success;
    }

    /// <param name="abandoned">Completes when the input ends: then nobody waits for the drain.</param>
    private static async Task DrainAsync(HandlerSpec spec, Cell cell, int messages, Task abandoned)
    {
        var left = messages;
        var handled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var handle = cell.CreateHandler(spec.Queue);
        var host = HandlerProgram.Build(spec, cell, HandleAsync);
        await using ((IAsyncDisposable)host)
        {
            await host.StartAsync();
            await Task.WhenAny(handled.Task, abandoned);
            await host.StopAsync();
        }

        async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
        {
            await handle(message, context, cancellationToken);
            if (Interlocked.Decrement(ref left) == 0)
                handled.SetResult();
        }
    }
}
