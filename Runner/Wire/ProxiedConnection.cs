using System.Net.Sockets;

namespace Kit.Runner.Wire;

/// <summary>One connection through a <see cref="FaultProxy"/>: two sockets of its owner, and a pump for each direction.</summary>
internal sealed class ProxiedConnection(Socket client, Socket server, StallGates stalls, ProxiedNetwork network) : IDisposable
{
    private const int BufferSize = 16 * 1024;

    /// <summary>Time that both sides have, after a cut, to send the rest and to close.</summary>
    private static readonly TimeSpan Farewell = TimeSpan.FromSeconds(2);

    private readonly CancellationTokenSource ended = new();
    private readonly TaskCompletionSource told = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly IConnectionWatch? watch = network.Watch?.Invoke();
    private readonly Lock deciding = new();
    private IConnectionFilter? filter;
    private Ending? ending;

    /// <summary>Completes when the connection has ended and both sides have been notified.</summary>
    public Task Told => told.Task;

    public bool IsOpen => !ended.IsCancellationRequested;

    /// <summary>Ends the connection. False if it had ended before.</summary>
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

    /// <summary>Forwards until both directions have ended, or the connection is ended.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        using var disposed = cancellationToken.Register(() => TryEnd(Ending.Cut));
        try
        {
            await using var toServer = new SendLine((piece, stop) => SendAsync(server, piece, stop), () => TryEnd(Ending.Reset), ended.Token);
            await using var toClient = new SendLine((piece, stop) => SendAsync(client, piece, stop), () => TryEnd(Ending.Reset), ended.Token);
            filter = network.Filter?.Invoke(new ConnectionSides(toServer.Add, toClient.Add, () => _ = Task.Run(() => TryEnd(Ending.Cut))));
            await Task.WhenAll(PumpAsync(client, server, Traffic.ToServer, toServer), PumpAsync(server, client, Traffic.ToClient, toClient));
            TryEnd(Ending.Cut);
        }
        finally
        {
            // Whoever ends a connection waits until both sides have been told, also if the filter fails.
            try
            {
                filter?.End();
            }
            finally
            {
                Action<Socket> tell = ending is Ending.Reset ? Reset : FinishSending;
                tell(client);
                tell(server);
                told.SetResult();
            }
        }

        if (ending is Ending.Reset)
            return;

        // Closing a socket with unread bytes would reset it, and the server could lose forwarded bytes.
        using var farewell = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        farewell.CancelAfter(Farewell);
        await Task.WhenAll(DiscardAsync(client, farewell.Token), DiscardAsync(server, farewell.Token));
    }

    public void Dispose()
    {
        lock (deciding)
            ended.Dispose();
    }

    private async Task PumpAsync(Socket from, Socket to, Traffic traffic, SendLine filtered)
    {
        var buffer = new byte[BufferSize];
        await using var line = LineTo(to, network.LatencyOf(traffic));
        try
        {
            while (await from.ReceiveAsync(buffer, ended.Token) is > 0 and var read)
            {
                await stalls[traffic].PassAsync(ended.Token);
                var piece = buffer.AsMemory(0, read);
                watch?.See(traffic, piece.Span);
                if (filter is not null)
                {
                    filter.See(traffic, piece.Span);
                    continue;
                }

                if (line is not null)
                    line.Add(piece.Span);
                else
                    await SendAsync(to, piece, ended.Token);
            }

            // Half closed: the other direction goes on.
            await stalls[traffic].PassAsync(ended.Token);
            if (line is not null)
                await line.FinishAsync();
            if (filter is not null)
                await filtered.FinishAsync();
            FinishSending(to);
        }
        catch (OperationCanceledException)
        {
            // Ended by a fault, or with the proxy.
        }
        catch (SocketException)
        {
            // One side has disappeared without closing; the other side sees the same.
            TryEnd(Ending.Reset);
        }
        catch
        {
            TryEnd(Ending.Reset);
            throw;
        }
    }

    private DelayLine? LineTo(Socket to, TimeSpan latency) => latency == TimeSpan.Zero
        ? null
        : new DelayLine(latency, (piece, cancellationToken) => SendAsync(to, piece, cancellationToken), ended.Token);

    private static async Task SendAsync(Socket to, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
    {
        while (!bytes.IsEmpty)
            bytes = bytes[await to.SendAsync(bytes, cancellationToken)..];
    }

    private static async Task DiscardAsync(Socket socket, CancellationToken cancellationToken)
    {
        var unread = new byte[BufferSize];
        try
        {
            while (await socket.ReceiveAsync(unread, cancellationToken) > 0)
            {
                // Bytes after a cut are discarded.
            }
        }
        catch (Exception gone) when (gone is OperationCanceledException or SocketException)
        {
            // Its time is over, or it has disappeared.
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
            // It has already been closed.
        }
    }

    private static void Reset(Socket socket)
    {
        socket.LingerState = new LingerOption(enable: true, seconds: 0);
        socket.Close();
    }
}
