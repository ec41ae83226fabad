using BenchmarkDotNet.Attributes;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Stage;
using Microsoft.Extensions.Hosting;

namespace Kit.Benchmarks.Micro;

/// <summary>
/// One message through the bare endpoint on PostgreSQL, in each mode at each setting of the log's flush. One worker handles a row of messages; the time and
/// the memory are divided among them. The memory is that of the whole process, with the endpoint's own threads.
/// </summary>
[MemoryDiagnoser]
public class OneMessage : IAsyncDisposable
{
    /// <summary>How many messages one invocation handles.</summary>
    public const int Messages = 500;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private CellStage stage = null!;
    private IHost host = null!;
    private IWidgetInsert insert = null!;
    private Gate gate = new();

    /// <summary>The server of the benchmark.</summary>
    internal static BenchmarkServer? Server { get; set; }

    /// <summary>Every mode that the kit implements itself, at each setting that it has.</summary>
    public static IEnumerable<string> Cells =>
        from cell in Cell.All
        where cell.Kind is { Framework: "bare", Transport: TransportName.PostgreSql } && cell.Support.IsSupported && cell.Plain == cell && cell.BatchSize == 1
              && cell.Access.Name == AccessLibrary.Baseline
              && (TransactionMode.Matrix.Contains(cell.Mode) || cell.Mode == TransactionMode.Shared || cell.Mode == TransactionMode.Outbox)
        select cell.Name;

    [ParamsSource(nameof(Cells))]
    public string Endpoint { get; set; } = "";

    [GlobalSetup]
    public void Start() => StartAsync().GetAwaiter().GetResult();

    /// <summary>Fills the queue behind a message whose handler waits, so that the worker is busy from the first moment to the last.</summary>
    [IterationSetup]
    public void Fill()
    {
        gate = new Gate();
        FillAsync().GetAwaiter().GetResult();
    }

    [Benchmark(Description = "message", OperationsPerInvoke = Messages)]
    public Task HandleAllAsync()
    {
        gate.Opened.SetResult();
        return gate.Done.Task.WaitAsync(Patience);
    }

    [GlobalCleanup]
    public void Stop() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    public async ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        await host.StopAsync();
        await ((IAsyncDisposable)host).DisposeAsync();
        await stage.DisposeAsync();
    }

    private async Task StartAsync()
    {
        var cell = Cell.All.Single(one => one.Name == Endpoint);
        stage = await CellStage.OpenAsync(cell, Server!.Running, Server.Running, new StageOptions(StageRows.Restored), CancellationToken.None);
        insert = cell.Access.CreateInsert();
        host = HandlerProgram.Build(stage.HandlersOf(concurrency: 1), cell, HandleAsync);
        await host.StartAsync();
    }

    private async Task FillAsync()
    {
        await stage.Queue.PreloadAsync([new BuildWidget(gate.Message)], CancellationToken.None);
        await gate.Reached.Task.WaitAsync(Patience);
        await stage.Queue.PreloadAsync([.. Enumerable.Range(0, Messages).Select(_ => new BuildWidget(Guid.CreateVersion7()))], CancellationToken.None);
    }

    private async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        if (message.MessageId == gate.Message)
        {
            gate.Reached.TrySetResult();
            await gate.Opened.Task.WaitAsync(cancellationToken);
            return;
        }

        await new WidgetBuilder(insert).BuildAsync(message, context, cancellationToken);
        if (Interlocked.Decrement(ref gate.Left) == 0)
            gate.Done.SetResult();
    }

    private sealed class Gate
    {
        public int Left = Messages;

        public Guid Message { get; } = Guid.CreateVersion7();

        public TaskCompletionSource Reached { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Opened { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
