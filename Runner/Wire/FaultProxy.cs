using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Kit.Runner.Wire;

/// <summary>
/// A TCP proxy on loopback between an endpoint and its server, which forwards everything until it is told to cut, reset, stall or
/// refuse. A command applies to every connection that is open then, and returns their number: 0 means that the fault did not fire.
/// </summary>
public sealed class FaultProxy : IAsyncDisposable
{
    private readonly string host;
    private volatile int port;
    private readonly Socket listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly ProxiedNetwork network;
    private readonly StallGates stalls = new();
    private readonly ConcurrentDictionary<ProxiedConnection, bool> connections = new();
    private readonly ConcurrentDictionary<Task, bool> running = new();
    private readonly CancellationTokenSource disposed = new();
    private readonly Task accepting;
    private volatile bool refusing;
    private int refused;
    private int most;

    /// <summary>Starts to listen on a free port of 127.0.0.1.</summary>
    /// <param name="host">Name or address.</param>
    /// <exception cref="SocketException">There is no free port.</exception>
    public FaultProxy(string host, int port)
        : this(host, port, ProxiedNetwork.Loopback)
    {
    }

    /// <inheritdoc cref="FaultProxy(string, int)"/>
    /// <param name="network">Its effects besides faults.</param>
    internal FaultProxy(string host, int port, ProxiedNetwork network)
    {
        this.host = host;
        this.port = port;
        this.network = network;
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        Port = ((IPEndPoint)listener.LocalEndPoint!).Port;
        accepting = AcceptAsync();
    }

    /// <summary>The port of 127.0.0.1 to connect to.</summary>
    public int Port { get; }

    /// <summary>The connections that are open now.</summary>
    public int Connections => connections.Keys.Count(connection => connection.IsOpen);

    /// <summary>The most connections that were open at the same time so far.</summary>
    public int MostConnections => Volatile.Read(ref most);

    /// <summary>The number of connections refused so far.</summary>
    public int Refused => Volatile.Read(ref refused);

    /// <summary>Ends every open connection. Bytes that are not forwarded yet never are.</summary>
    /// <returns>The ended connections; both sides of each have been notified.</returns>
    public async Task<int> EndAllAsync(Ending how)
    {
        var ended = connections.Keys.Where(connection => connection.TryEnd(how)).ToList();
        await Task.WhenAll(ended.Select(connection => connection.Told));
        return ended.Count;
    }

    /// <summary>
    /// Stops forwarding in a direction, on open and new connections, including ends of streams: the network is silent, nothing is closed.
    /// A write in progress still goes through.
    /// </summary>
    /// <returns>The open connections, now stalled.</returns>
    public int Stall(Traffic traffic)
    {
        foreach (var gate in stalls.Of(traffic))
            gate.Close();
        return Connections;
    }

    /// <summary>Goes on forwarding after a stall; nothing is lost.</summary>
    /// <returns>The open connections.</returns>
    public int Resume(Traffic traffic)
    {
        foreach (var gate in stalls.Of(traffic))
            gate.Open();
        return Connections;
    }

    /// <summary>
    /// Resets each new connection before a byte has passed, and counts it in <see cref="Refused"/>. The client's connect may succeed
    /// and its first read or write fail.
    /// </summary>
    public void RefuseConnections() => refusing = true;

    public void AcceptConnections() => refusing = false;

    /// <summary>Connects each new connection to another port, as an address that moves; open ones stay where they are.</summary>
    public void Redirect(int to) => port = to;

    /// <summary>Ends every connection and stops listening.</summary>
    public async ValueTask DisposeAsync()
    {
        if (disposed.IsCancellationRequested)
            return;

        await disposed.CancelAsync();
        await accepting;
        await Task.WhenAll(running.Keys);
        listener.Dispose();
        disposed.Dispose();
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                var client = await listener.AcceptAsync(disposed.Token);
                var connection = ForwardAsync(client);
                running.TryAdd(connection, true);
                _ = connection.ContinueWith(ended => running.TryRemove(ended, out _), TaskScheduler.Default);
            }
        }
        catch (OperationCanceledException)
        {
            // Disposed.
        }
    }

    private async Task ForwardAsync(Socket accepted)
    {
        using var client = accepted;
        using var server = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        client.NoDelay = true;
        if (!await TryConnectAsync(server))
        {
            // The server would have refused it.
            client.LingerState = new LingerOption(enable: true, seconds: 0);
            return;
        }

        using var connection = new ProxiedConnection(client, server, stalls, network);
        connections.TryAdd(connection, true);
        KeepMost(Connections);
        try
        {
            await connection.RunAsync(disposed.Token);
        }
        finally
        {
            connections.TryRemove(connection, out _);
        }
    }

    private void KeepMost(int open)
    {
        while (Volatile.Read(ref most) is var known && open > known)
            Interlocked.CompareExchange(ref most, open, known);
    }

    private async Task<bool> TryConnectAsync(Socket server)
    {
        if (refusing)
        {
            Interlocked.Increment(ref refused);
            return false;
        }

        try
        {
            await server.ConnectAsync(host, port, disposed.Token);
            return true;
        }
        catch (Exception unreachable) when (unreachable is SocketException or OperationCanceledException)
        {
            return false;
        }
    }
}
