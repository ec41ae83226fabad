using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// The address of a broker and the user to connect as: <c>amqp://user:password@host:port/vhost?management=http://host:port</c>. The query is the
/// kit's own: it says where the management plugin is, which counts messages. The default is port 15672 of the same host, without TLS.
/// </summary>
public sealed class RabbitMqAddress
{
    private const string Key = "?management=";
    private const int ManagementPort = 15672;
    private const uint LargestBody = 128 << 20;

    private readonly ConnectionFactory settings;

    private RabbitMqAddress(Uri amqp, ConnectionFactory settings, Uri management)
    {
        Amqp = amqp;
        this.settings = settings;
        Management = management;
    }

    /// <summary>The AMQP URI for drivers. It contains the password.</summary>
    public Uri Amqp { get; }

    /// <summary>The root of the management plugin's HTTP interface, without user and password.</summary>
    public Uri Management { get; }

    public string VirtualHost => settings.VirtualHost;

    public string UserName => settings.UserName;

    public string Password => settings.Password;

    /// <summary>Both parts in one text that <see cref="Parse(string)"/> reads. It contains the password.</summary>
    public string Text => $"{Amqp.AbsoluteUri}{Key}{Management.AbsoluteUri}";

    /// <param name="address">An AMQP URI (https://www.rabbitmq.com/docs/uri-spec), with the management plugin's address if that is elsewhere.</param>
    /// <exception cref="BrokerException">It cannot be read. The message does not repeat it, because it can contain a password.</exception>
    public static RabbitMqAddress Parse(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        return address.IndexOf(Key, StringComparison.Ordinal) is >= 0 and var at
            ? Parse(address[..at], address[(at + Key.Length)..])
            : Parse(address, management: null);
    }

    /// <param name="amqp">An AMQP URI.</param>
    /// <param name="management">The management plugin's address; <see langword="null"/> for port 15672 of the broker's host.</param>
    /// <inheritdoc cref="Parse(string)" path="/exception"/>
    public static RabbitMqAddress Parse(string amqp, string? management)
    {
        var read = new ConnectionFactory();
        Uri uri;
        try
        {
            read.Uri = uri = new Uri(amqp);
        }
        catch (Exception unreadable) when (unreadable is UriFormatException or ArgumentException or FormatException)
        {
            throw new BrokerException(
                "The RabbitMQ URI cannot be read. Expected: amqp://user:password@host:5672/vhost, or amqps://… " +
                "(percent-encode all characters except letters and digits in user, password and vhost).");
        }

        return new RabbitMqAddress(
            uri, read, management is null ? new UriBuilder(Uri.UriSchemeHttp, read.HostName, ManagementPort).Uri : ParseManagement(management));
    }

    /// <summary>The same broker and user in another virtual host.</summary>
    public RabbitMqAddress In(string virtualHost) =>
        Parse(new UriBuilder(Amqp) { Path = Uri.EscapeDataString(virtualHost) }.Uri.AbsoluteUri, Management.AbsoluteUri);

    /// <summary>Opens a connection that does not recover automatically.</summary>
    /// <param name="name">Its name in the broker's own lists.</param>
    /// <param name="timeout">The time-out of each step; <see langword="null"/> for the driver's.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="RabbitMQ.Client.Exceptions.BrokerUnreachableException">It cannot be opened. The inner exception says why.</exception>
    public Task<IConnection> ConnectAsync(string name, TimeSpan? timeout, CancellationToken cancellationToken) =>
        ConnectAsync(name, timeout, timeout, cancellationToken);

    /// <summary>The same, with another time-out for the broker's answers on channels.</summary>
    internal Task<IConnection> ConnectAsync(string name, TimeSpan? timeout, TimeSpan? answers, CancellationToken cancellationToken)
    {
        // By default the driver ends its connection for a message of more than 64 MiB, which would come again on the next. This is its upper limit, and the
        // broker's default (max_message_size).
        var factory = new ConnectionFactory { Uri = Amqp, AutomaticRecoveryEnabled = false, MaxInboundMessageBodySize = LargestBody };
        if (timeout is { } limit)
            factory.RequestedConnectionTimeout = factory.HandshakeContinuationTimeout = limit;
        if (answers is { } longest)
            factory.ContinuationTimeout = longest;

        return factory.CreateConnectionAsync(name, cancellationToken);
    }

    /// <summary>The address without the password, for messages and logs.</summary>
    public override string ToString() => $"{UserName} at {settings.HostName}:{settings.Endpoint.Port}, virtual host {VirtualHost}";

    // Relative paths are appended after the last slash.
    private static Uri ParseManagement(string address) =>
        Uri.TryCreate(address.TrimEnd('/') + "/", UriKind.Absolute, out var uri) && uri.Scheme is "http" or "https"
            ? uri
            : throw new BrokerException("The address of the management plugin cannot be read. Expected: http://host:15672, or https://…");
}
