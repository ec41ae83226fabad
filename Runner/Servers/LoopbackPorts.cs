using System.Net;
using System.Net.Sockets;

namespace Kit.Runner.Servers;

/// <summary>Ports that only this machine can reach.</summary>
public static class LoopbackPorts
{
    /// <summary>Where ports for outgoing connections begin on Linux. Windows and macOS begin at 49,152 (RFC 6335).</summary>
    private const int FirstOfClients = 32_768;

    private const int First = 10_240;

    /// <summary>
    /// Different free ports. Another process can take one before its server does. No outgoing connection gets one of them while its server restarts.
    /// </summary>
    /// <exception cref="SocketException">The machine has no free port.</exception>
    public static IReadOnlyList<int> Free(int count)
    {
        // All are held at once: a released port could be found again.
        var listeners = new List<TcpListener>();
        try
        {
            while (listeners.Count < count)
                listeners.Add(ListenOnFreePort());
            return [.. listeners.Select(listener => ((IPEndPoint)listener.LocalEndpoint).Port)];
        }
        finally
        {
            listeners.ForEach(listener => listener.Dispose());
        }
    }

    private static TcpListener ListenOnFreePort()
    {
        for (var tries = FirstOfClients - First; ; tries--)
        {
            var listener = new TcpListener(IPAddress.Loopback, Random.Shared.Next(First, FirstOfClients));
            try
            {
                listener.Start();
                return listener;
            }
            catch (SocketException) when (tries > 0)
            {
                listener.Dispose();
            }
        }
    }
}
