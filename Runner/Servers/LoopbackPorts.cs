using System.Net;
using System.Net.Sockets;

namespace Kit.Runner.Servers;

/// <summary>Ports that only this machine can reach.</summary>
public static class LoopbackPorts
{
    /// <summary>
    /// First port of outgoing connections by default on Linux (<c>net.ipv4.ip_local_port_range</c>). Windows and macOS begin at 49,152 (RFC 6335).
    /// </summary>
    private const int FirstOfClients = 32_768;

    /// <summary>Servers that the user has installed usually have a port below it, such as 5432 or 5672.</summary>
    private const int First = 10_240;

    /// <summary>
    /// Different free ports. Another process can take one before its server does. If the machine has its system's
    /// default range for outgoing connections, none of them gets one of these ports while its server restarts.
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
            catch (SocketException)
            {
                listener.Dispose();
                if (tries == 0)
                    throw;
            }
        }
    }
}
