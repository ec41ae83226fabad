using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Kit.Runner.Results;
using Kit.Runner.Wire;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Measuring;

/// <summary>
/// Measures the real length of a round trip through the kit's proxy during a drain: twenty times a second it sends a byte through a proxy with the
/// same settings, in the same process, to a server that sends it back.
/// </summary>
internal sealed class PingMeter : IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

    private readonly Socket listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly CancellationTokenSource stopped = new();
    private readonly FaultProxy proxy;
    private readonly List<double> milliseconds = [];
    private readonly Task pinging;

    public PingMeter(ProxiedNetwork network)
    {
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        proxy = new FaultProxy("127.0.0.1", ((IPEndPoint)listener.LocalEndPoint!).Port, network);
        pinging = Task.WhenAll(EchoAsync(), PingAsync());
    }

    /// <summary>Stops it.</summary>
    /// <returns>The measured round trip; <see langword="null"/> if no ping came back.</returns>
    public async Task<MeasuredRoundTrip?> StopAsync()
    {
        await stopped.CancelAsync();
        await pinging;
        return milliseconds.Count == 0
            ? null
            : new MeasuredRoundTrip(Math.Round(milliseconds.Mean(), 3), Math.Round(milliseconds.Quantile(0.99), 3), milliseconds.Count);
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            await StopAsync();
        }
        finally
        {
            await proxy.DisposeAsync();
            listener.Dispose();
            stopped.Dispose();
        }
    }

    private async Task EchoAsync()
    {
        try
        {
            using var client = await listener.AcceptAsync(stopped.Token);
            client.NoDelay = true;
            var one = new byte[1];
            while (await client.ReceiveAsync(one, stopped.Token) > 0)
                await client.SendAsync(one, stopped.Token);
        }
        catch (Exception ended) when (stopped.IsCancellationRequested && ended is OperationCanceledException or SocketException)
        {
            // Stopped.
        }
    }

    private async Task PingAsync()
    {
        try
        {
            using var client = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await client.ConnectAsync(IPAddress.Loopback, proxy.Port, stopped.Token);
            var one = new byte[1];
            while (true)
            {
                var start = Stopwatch.GetTimestamp();
                await client.SendAsync(one, stopped.Token);
                if (await client.ReceiveAsync(one, stopped.Token) == 0)
                    throw new InvalidOperationException("The proxy has closed the connection of the pings.");
                milliseconds.Add(Stopwatch.GetElapsedTime(start).TotalMilliseconds);
                await Task.Delay(Pause, stopped.Token);
            }
        }
        catch (Exception ended) when (stopped.IsCancellationRequested && ended is OperationCanceledException or SocketException)
        {
            // Stopped.
        }
    }
}
