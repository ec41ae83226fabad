using RabbitMQ.Client;

namespace Kit.Runner.Servers;

/// <summary>Where a RabbitMQ broker is and as whom we are there. As text it has no password.</summary>
public sealed class BrokerAddress
{
    private const int ManagementPort = 15672;

    private readonly ConnectionFactory factory;

    private BrokerAddress(Uri amqp, ConnectionFactory factory, Uri management)
    {
        AmqpUri = amqp;
        this.factory = factory;
        Management = management;
    }

    /// <summary>It holds the password; show it through <see cref="ConnectionStrings.Mask"/>.</summary>
    public Uri AmqpUri { get; }

    public string VirtualHost => factory.VirtualHost;

    public string UserName => factory.UserName;

    public string Password => factory.Password;

    /// <summary>Where the management plugin is expected, without user and password.</summary>
    public Uri Management { get; }

    /// <param name="amqp">An AMQP URI: https://www.rabbitmq.com/docs/uri-spec.</param>
    /// <param name="management">The management plugin's address; not given: port 15672 of the broker's machine, without TLS.</param>
    /// <exception cref="KitException">One of them cannot be read. The message repeats nothing of it.</exception>
    public static BrokerAddress Parse(string amqp, string? management = null)
    {
        var settings = new ConnectionFactory();
        Uri uri;
        try
        {
            settings.Uri = uri = new Uri(amqp);
        }
        catch (Exception unreadable) when (unreadable is UriFormatException or ArgumentException or FormatException)
        {
            // What the parser stumbled on is not repeated: it can be a piece of a password.
            throw new KitException(
                "The RabbitMQ URI cannot be read.",
                "Expected: amqp://user:password@host:5672/vhost, or amqps://… (percent-encode what is not a letter or digit in user, password and vhost).");
        }

        return new BrokerAddress(
            uri, settings, management is null ? new UriBuilder(Uri.UriSchemeHttp, settings.HostName, ManagementPort).Uri : ParseManagement(management));
    }

    /// <summary>The same broker and user in another virtual host.</summary>
    public BrokerAddress In(string virtualHost)
    {
        var other = new UriBuilder(AmqpUri) { Path = Uri.EscapeDataString(virtualHost) };
        return Parse(other.Uri.AbsoluteUri, Management.AbsoluteUri);
    }

    /// <summary>Opens a connection that does not come back by itself.</summary>
    /// <param name="name">What the broker's own lists call it.</param>
    /// <exception cref="RabbitMQ.Client.Exceptions.BrokerUnreachableException">It cannot be opened; inside is why.</exception>
    public Task<IConnection> ConnectAsync(string name, TimeSpan timeout, CancellationToken cancellationToken)
    {
        factory.AutomaticRecoveryEnabled = false;
        factory.RequestedConnectionTimeout = factory.ContinuationTimeout = factory.HandshakeContinuationTimeout = timeout;
        return factory.CreateConnectionAsync(name, cancellationToken);
    }

    public override string ToString() => $"{UserName} at {factory.HostName}:{factory.Endpoint.Port}, virtual host {VirtualHost}";

    // Paths below it are added to the last slash.
    private static Uri ParseManagement(string address) =>
        Uri.TryCreate(address.TrimEnd('/') + "/", UriKind.Absolute, out var uri) && uri.Scheme is "http" or "https"
            ? uri
            : throw new KitException("The address of the management plugin cannot be read.", "Expected: http://host:15672, or https://…");
}
