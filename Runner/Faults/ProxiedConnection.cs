using System.Collections.Concurrent;
using System.Net.Sockets;

namespace Kit.Runner.Faults;

/// <summary>One connection through a <see cref="FaultProxy"/>: two sockets of its owner, and a pump for each direction.</summary>
internal sealed class ProxiedConnection(Socket client, Socket server, ProxyFaults faults) : IDisposable
{
    private const int BufferSize = 16 * 1024;

    /// <summary>How long the other sides have, after a cut, to say what they still had to say and to close.</summary>
    private static readonly TimeSpan Farewell = TimeSpan.FromSeconds(2);

    private readonly CancellationTokenSource ended = new();
    private readonly TaskCompletionSource told = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ConcurrentDictionary<ArmedFault, IByteWatch> watches = new();
    private readonly Lock deciding = new();
    private Ending? ending;
    private volatile ArmedFault? beforeAnswer;
    private volatile ArmedFault? endedBy;

    /// <summary>Completes when the connection is ended and both sides are told.</summary>
    public Task Told => told.Task;

    public bool IsOpen => !ended.IsCancellationRequested;

    /// <summary>Whether this caller ended the connection, and nothing else had before.</summary>
    public bool TryEnd(Ending how)
    {
        lock (deciding)
        {
            if (ending is not null)
                return false;

            ending = how;
            ended.Cancel();
            return true;
        }
    }

    /// <summary>Forwards until both directions have come to their end, or the connection is ended.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        using var disposed = cancellationToken.Register(() => TryEnd(Ending.Cut));
        await Task.WhenAll(PumpAsync(client, server, Traffic.ToServer), PumpAsync(server, client, Traffic.ToClient));
        TryEnd(Ending.Cut);
        Action<Socket> tell = ending is Ending.Reset ? Reset : FinishSending;
        tell(client);
        tell(server);
        told.SetResult();
        endedBy?.Report();
        if (ending is Ending.Reset)
            return;

        // Closing a socket that has unread bytes would reset it, and could take from the server what was forwarded.
        using var farewell = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        farewell.CancelAfter(Farewell);
        await Task.WhenAll(DiscardAsync(client, farewell.Token), DiscardAsync(server, farewell.Token));
    }

    public void Dispose()
    {
        lock (deciding)
            ended.Dispose();
    }

    private async Task PumpAsync(Socket from, Socket to, Traffic traffic)
    {
        var buffer = new byte[BufferSize];
        try
        {
            while (await from.ReceiveAsync(buffer, ended.Token) is > 0 and var read)
            {
                await faults.Gate(traffic).PassAsync(ended.Token);
                if (traffic is Traffic.ToClient && beforeAnswer is { } withheld)
                {
                    await EndAsync(withheld);
                    return;
                }

                var piece = buffer.AsMemory(0, read);
                var (fault, upTo) = Look(piece.Span, traffic);
                if (fault is { Moment: CutMoment.BeforeAnswer })
                    beforeAnswer = fault;
                await SendAsync(to, fault is { Moment: CutMoment.BeforeForwarding } ? piece[..upTo] : piece);
                if (fault is not null and not { Moment: CutMoment.BeforeAnswer })
                {
                    await EndAsync(fault);
                    return;
                }
            }

            // Half closed: the other direction goes on.
            await faults.Gate(traffic).PassAsync(ended.Token);
            FinishSending(to);
        }
        catch (OperationCanceledException)
        {
            // Ended by a fault, or with the proxy.
        }
        catch (SocketException)
        {
            // One side is gone without a word, and so it is for the other.
            TryEnd(Ending.Reset);
        }
    }

    private (ArmedFault? Fault, int UpTo) Look(ReadOnlySpan<byte> piece, Traffic traffic)
    {
        foreach (var fault in faults.Armed)
        {
            if (fault.Traffic == traffic && watches.GetOrAdd(fault, armed => armed.Watch()).FindIn(piece) is { } upTo && fault.TryClaim())
            {
                faults.Disarm(fault);
                return (fault, upTo);
            }
        }

        return (null, 0);
    }

    private async Task EndAsync(ArmedFault fault)
    {
        if (fault.Ending is Ending.Hold)
        {
            fault.Report();
            await Task.Delay(Timeout.InfiniteTimeSpan, ended.Token);
        }
        else if (TryEnd(fault.Ending))
        {
            endedBy = fault;
        }
    }

    private async Task SendAsync(Socket to, ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
            bytes = bytes[await to.SendAsync(bytes, ended.Token)..];
    }

    private static async Task DiscardAsync(Socket socket, CancellationToken cancellationToken)
    {
        var unread = new byte[BufferSize];
        try
        {
            while (await socket.ReceiveAsync(unread, cancellationToken) > 0)
            {
                // What comes after a cut goes nowhere.
            }
        }
        catch (Exception gone) when (gone is OperationCanceledException or SocketException)
        {
            // It has taken its time, or is gone.
        }
    }

    private static void FinishSending(Socket socket)
    {
        try
        {
            socket.Shutdown(SocketShutdown.Send);
        }
        catch (SocketException)
        {
            // It is gone already.
        }
    }

    private static void Reset(Socket socket)
    {
        socket.LingerState = new LingerOption(enable: true, seconds: 0);
        socket.Close();
    }
}
