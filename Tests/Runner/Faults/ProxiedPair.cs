using System.Net;
using System.Net.Sockets;
using System.Text;
using Kit.Runner.Wire;

namespace Kit.Tests.Faults;

/// <summary>A server socket and client sockets, with a proxy between them.</summary>
internal sealed class ProxiedPair : IAsyncDisposable
{
    private readonly TcpListener listener;
    private readonly List<Socket> sockets = [];

    public ProxiedPair()
        : this(ProxiedNetwork.Loopback)
    {
    }

    public ProxiedPair(ProxiedNetwork network)
    {
        listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Proxy = new FaultProxy("127.0.0.1", ((IPEndPoint)listener.LocalEndpoint).Port, network);
    }

    public FaultProxy Proxy { get; }

    public async Task<(Socket Client, Socket Server)> ConnectAsync()
    {
        using var patience = new CancellationTokenSource(Eventually.Limit);
        var connections = Proxy.Connections + 1;
        var client = await ConnectClientAsync();
        var server = await listener.AcceptSocketAsync(patience.Token);
        sockets.Add(server);
        await Eventually.HoldsAsync(() => Proxy.Connections == connections, "the proxy knows the connection");
        return (client, server);
    }

    public async Task<Socket> ConnectClientAsync()
    {
        using var patience = new CancellationTokenSource(Eventually.Limit);
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        sockets.Add(client);
        await client.ConnectAsync(IPAddress.Loopback, Proxy.Port, patience.Token);
        return client;
    }

    public void StopServer() => listener.Stop();

    public static async Task SendAsync(Socket socket, string text)
    {
        using var patience = new CancellationTokenSource(Eventually.Limit);
        await socket.SendAsync(Encoding.Latin1.GetBytes(text), patience.Token);
    }

    /// <summary>Reads as many characters, and fewer only at the end of the stream.</summary>
    public static async Task<string> ReadAsync(Socket socket, int length)
    {
        using var patience = new CancellationTokenSource(Eventually.Limit);
        var bytes = new byte[length];
        var read = 0;
        while (read < length && await socket.ReceiveAsync(bytes.AsMemory(read), patience.Token) is > 0 and var more)
            read += more;
        return Encoding.Latin1.GetString(bytes, 0, read);
    }

    /// <summary>Reads until the stream ends.</summary>
    public static Task<string> ReadToEndAsync(Socket socket) => ReadAsync(socket, 4096);

    /// <summary>Whether nothing comes for a while.</summary>
    public static async Task<bool> IsSilentAsync(Socket socket)
    {
        await Task.Delay(150);
        return !socket.Poll(TimeSpan.Zero, SelectMode.SelectRead);
    }

    public async ValueTask DisposeAsync()
    {
        await Proxy.DisposeAsync();
        sockets.ForEach(socket => socket.Dispose());
        listener.Dispose();
    }
}
