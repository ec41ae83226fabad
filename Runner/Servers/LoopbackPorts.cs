using System.Net;
using System.Net.Sockets;

namespace Kit.Runner.Servers;

/// <summary>Ports that only this machine can reach.</summary>
public static class LoopbackPorts
{
    /// <summary>Different free ports. Another process can take one before its server does.</summary>
    public static IReadOnlyList<int> Free(int count)
    {
        // All are held at once: a released port could be found again.
        var listeners = Enumerable.Range(0, count).Select(_ => new TcpListener(IPAddress.Loopback, 0)).ToList();
        try
        {
            foreach (var listener in listeners)
                listener.Start();
            return [.. listeners.Select(listener => ((IPEndPoint)listener.LocalEndpoint).Port)];
        }
        finally
        {
            foreach (var listener in listeners)
                listener.Dispose();
        }
    }
}
