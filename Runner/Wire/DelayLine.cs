using System.Collections.Concurrent;
using System.Diagnostics;

namespace Kit.Runner.Wire;

/// <summary>
/// One direction of a connection through a network of a given latency: pieces come out in the order in which they went in, each after the latency.
/// Bandwidth is not limited, and nothing is lost.
/// </summary>
/// <remarks>
/// It sleeps on a thread of its own. A piece that comes alone is late by a tenth of a millisecond, and one that follows closely behind another by up to a
/// whole one. The timers of .NET are always late by up to a whole one.
/// </remarks>
internal sealed class DelayLine : IAsyncDisposable
{
    private readonly BlockingCollection<(long Due, byte[] Bytes)> waiting = [];
    private readonly CancellationTokenSource ended;
    private readonly TimeSpan latency;
    private readonly Func<ReadOnlyMemory<byte>, CancellationToken, Task> forward;
    private readonly Task forwarding;

    /// <param name="latency">Above zero.</param>
    /// <param name="cancellationToken">Ends the line: pieces in it are dropped.</param>
    public DelayLine(TimeSpan latency, Func<ReadOnlyMemory<byte>, CancellationToken, Task> forward, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(latency, TimeSpan.Zero);
        this.latency = latency;
        this.forward = forward;
        ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        forwarding = Task.Factory.StartNew(Forward, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
    }

    /// <summary>Puts a piece into the line.</summary>
    public void Add(ReadOnlySpan<byte> piece) =>
        waiting.Add((Stopwatch.GetTimestamp() + (long)(latency.TotalSeconds * Stopwatch.Frequency), piece.ToArray()), CancellationToken.None);

    /// <summary>Waits until everything in it has been sent on.</summary>
    /// <exception cref="OperationCanceledException">It was ended.</exception>
    /// <exception cref="System.Net.Sockets.SocketException">A piece could not be sent on.</exception>
    public Task FinishAsync()
    {
        waiting.CompleteAdding();
        return forwarding;
    }

    public async ValueTask DisposeAsync()
    {
        // The thread ends within one latency: it is asleep, or waits for a piece.
        await ended.CancelAsync();
        await forwarding.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        waiting.Dispose();
        ended.Dispose();
    }

    private void Forward()
    {
        foreach (var (due, bytes) in waiting.GetConsumingEnumerable(ended.Token))
        {
            if (Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), due) is { Ticks: > 0 } left)
                Thread.Sleep((int)Math.Ceiling(left.TotalMilliseconds));
            forward(bytes, ended.Token).GetAwaiter().GetResult();
        }
    }
}
