using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Kit.Runner.Wire;

/// <summary>
/// A TCP proxy on loopback between an endpoint and its server, which forwards everything until it is told to cut, reset, stall or
/// refuse. A command applies to every connection that is open then, and returns their number: 0 means that the fault did not fire.
/// It does not decrypt TLS: it finds patterns only in plain text.
/// </summary>
public sealed class FaultProxy : IAsyncDisposable
{
    private readonly string host;
    private readonly int port;
    private readonly Socket listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly ProxiedNetwork network;
    private readonly ProxyFaults faults = new();
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
    /// <param name="network">Its effects besides faults. With a round trip, it injects no faults.</param>
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

    /// <summary>Ends every open connection, including held ones. Bytes that are not forwarded yet never are.</summary>
    /// <param name="how">Not <see cref="Ending.Hold"/>, which is only for armed faults.</param>
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
        foreach (var gate in faults.Gates(traffic))
            gate.Close();
        return Connections;
    }

    /// <summary>Goes on forwarding after a stall; nothing is lost.</summary>
    /// <returns>The open connections.</returns>
    public int Resume(Traffic traffic)
    {
        foreach (var gate in faults.Gates(traffic))
            gate.Open();
        return Connections;
    }

    /// <summary>
    /// Resets each new connection before a byte has passed, and counts it in <see cref="Refused"/>. The client's connect may succeed
    /// and its first read or write fail.
    /// </summary>
    public void RefuseConnections() => refusing = true;

    public void AcceptConnections() => refusing = false;

    /// <summary>Ends a connection after this many bytes, counted from now: exactly these are forwarded.</summary>
    /// <param name="traffic">One direction.</param>
    /// <param name="bytes">1 or more.</param>
    /// <exception cref="ArgumentOutOfRangeException">Not one direction, or no bytes.</exception>
    public ArmedFault CutAfter(Traffic traffic, long bytes, Ending how = Ending.Cut)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(bytes, 1);
        return Arm(new ArmedFault(traffic, how, CutMoment.BeforeForwarding, () => new CountWatch(bytes)));
    }

    /// <summary>
    /// Ends a connection that sends these bytes to the server, even across packets. Include the end of a command:
    /// PostgreSQL executes <c>COMMIT\0</c>, but not <c>COMMIT</c>.
    /// </summary>
    /// <param name="pattern">1 byte or more.</param>
    /// <param name="moment">
    /// The moment of the end. With <see cref="CutMoment.BeforeForwarding"/> the first bytes of the pattern may have been forwarded if they came
    /// alone; the last never is.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">No bytes.</exception>
    public ArmedFault CutAt(ReadOnlyMemory<byte> pattern, CutMoment moment, Ending how = Ending.Cut) => CutAt([pattern], moment, how);

    /// <summary>Ends a connection that sends several patterns one after another, from now on: it ends at the last.</summary>
    public ArmedFault CutAt(IReadOnlyList<ReadOnlyMemory<byte>> patterns, CutMoment moment, Ending how = Ending.Cut)
    {
        ArgumentNullException.ThrowIfNull(patterns);
        ArgumentOutOfRangeException.ThrowIfLessThan(patterns.Count, 1, nameof(patterns));
        foreach (var pattern in patterns)
            ArgumentOutOfRangeException.ThrowIfLessThan(pattern.Length, 1, nameof(patterns));

        return Arm(new ArmedFault(Traffic.ToServer, how, moment, () => new PatternWatch([.. patterns.Select(pattern => pattern.ToArray())])));
    }

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

    private ArmedFault Arm(ArmedFault fault)
    {
        if (network.RoundTrip > TimeSpan.Zero)
            throw new InvalidOperationException("Expected a proxy without a round trip: bytes that are on their way are neither forwarded nor withheld.");

        return fault.Traffic is Traffic.ToServer or Traffic.ToClient
            ? faults.Arm(fault)
            : throw new ArgumentOutOfRangeException(nameof(fault), fault.Traffic, "Expected one direction.");
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

        using var connection = new ProxiedConnection(client, server, faults, network);
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
