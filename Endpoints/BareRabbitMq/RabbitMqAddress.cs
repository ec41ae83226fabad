using System.Net;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// Where a broker is: <c>amqp://user:password@host:port/vhost?management=http://host:port</c>. The query is the kit's own, for counting:
/// without it the management plugin is looked for on its usual port, 10,000 above that of AMQP.
/// </summary>
public sealed class RabbitMqAddress
{
    private const string Key = "?management=";

    private RabbitMqAddress(Uri amqp, Uri management)
    {
        Amqp = amqp;
        Management = management;
    }

    /// <summary>What drivers take.</summary>
    public Uri Amqp { get; }

    /// <summary>The root of the management plugin's HTTP interface.</summary>
    public Uri Management { get; }

    public string VirtualHost => Amqp.AbsolutePath.Length > 1 ? Uri.UnescapeDataString(Amqp.AbsolutePath[1..]) : "/";

    public NetworkCredential Credentials
    {
        get
        {
            var parts = Amqp.UserInfo.Split(':', 2);
            return parts is [{ Length: > 0 } user, var password]
                ? new NetworkCredential(Uri.UnescapeDataString(user), Uri.UnescapeDataString(password))
                : new NetworkCredential("guest", "guest");
        }
    }

    /// <exception cref="BrokerException">It is not an AMQP address.</exception>
    public static RabbitMqAddress Parse(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        var (amqp, management) = address.IndexOf(Key, StringComparison.Ordinal) is >= 0 and var at ? (address[..at], address[(at + Key.Length)..]) : (address, "");
        if (!Uri.TryCreate(amqp, UriKind.Absolute, out var uri) || uri.Scheme is not ("amqp" or "amqps"))
            throw new BrokerException("A RabbitMQ address was expected, as in amqp://user:password@host:5672/virtual-host.");
        if (management.Length > 0)
            return new RabbitMqAddress(uri, new Uri(management));

        var (scheme, port) = uri.Scheme == "amqps" ? ("https", 5671) : ("http", 5672);
        return new RabbitMqAddress(uri, new UriBuilder(scheme, uri.Host, 10_000 + (uri.Port > 0 ? uri.Port : port)).Uri);
    }

    /// <summary>Without user and password: for messages and logs.</summary>
    public override string ToString() => $"{Amqp.Scheme}://{Amqp.Authority}/{VirtualHost.TrimStart('/')}";
}
