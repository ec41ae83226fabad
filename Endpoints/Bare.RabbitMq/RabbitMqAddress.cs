using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// The address of a broker and the user to connect as: <c>amqp://user:password@host:port/vhost?management=http://host:port</c>. The query is the
/// kit's own: it says where the management plugin is, which counts messages and is sent the password. The default is port 15672 of the same host, and port
/// 15671 with TLS for <c>amqps</c>.
/// </summary>
/// <remarks>
/// Several nodes of a cluster are separated by commas, as in the connection strings of other clients: <c>amqp://user:password@one:5672,two:5672/vhost</c>. The
/// driver tries them in a random order, each time it connects. They must be one cluster: queues of one broker are not on another. The management plugin is
/// looked for on the first, if its address is not given.
/// </remarks>
public sealed class RabbitMqAddress
{
    private const string Key = "?management=";
    private const int ManagementPort = 15672;
    private const int ManagementPortWithTls = 15671;
    private const uint LargestBody = 128 << 20;

    private readonly ConnectionFactory settings;
    private readonly IReadOnlyList<AmqpTcpEndpoint> nodes;

    private RabbitMqAddress(Uri amqp, ConnectionFactory settings, IReadOnlyList<AmqpTcpEndpoint> nodes, Uri management)
    {
        Amqp = amqp;
        this.settings = settings;
        this.nodes = nodes;
        Management = management;
    }

    /// <summary>The AMQP URI for drivers, of the first node. It contains the password.</summary>
    public Uri Amqp { get; }

    /// <summary>How many nodes it names.</summary>
    public int Nodes => nodes.Count;

    /// <summary>The root of the management plugin's HTTP interface, without user and password.</summary>
    public Uri Management { get; }

    public string VirtualHost => settings.VirtualHost;

    public string UserName => settings.UserName;

    public string Password => settings.Password;

    /// <summary>Both parts in one text that <see cref="Parse(string)"/> reads. It contains the password.</summary>
    public string Text => $"{WithEveryNode(Amqp)}{Key}{Management.AbsoluteUri}";

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
    /// <param name="management">The management plugin's address; <see langword="null"/> for the default.</param>
    /// <inheritdoc cref="Parse(string)" path="/exception"/>
    public static RabbitMqAddress Parse(string amqp, string? management)
    {
        ArgumentNullException.ThrowIfNull(amqp);
        IReadOnlyList<ConnectionFactory> read;
        Uri uri;
        try
        {
            var uris = EachNode(amqp);
            uri = uris[0];
            read = [.. uris.Select(node => new ConnectionFactory { Uri = node, MaxInboundMessageBodySize = LargestBody })];
        }
        catch (Exception unreadable) when (unreadable is UriFormatException or ArgumentException or FormatException)
        {
            throw new BrokerException(
                "The RabbitMQ URI cannot be read. Expected: amqp://user:password@host:5672/vhost, or amqps://…, with several nodes as host:5672,host:5672 " +
                "(percent-encode all characters except letters and digits in user, password and vhost).");
        }

        return new RabbitMqAddress(
            uri, read[0], [.. read.Select(node => node.Endpoint)],
            management is null ? ManagementOf(read[0]) : ParseManagement(management));
    }

    /// <summary>The same broker and user in another virtual host.</summary>
    public RabbitMqAddress In(string virtualHost) =>
        Parse(WithEveryNode(new UriBuilder(Amqp) { Path = Uri.EscapeDataString(virtualHost) }.Uri), Management.AbsoluteUri);

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

        return factory.CreateConnectionAsync(nodes, name, cancellationToken);
    }

    /// <summary>The address without the password, for messages and logs.</summary>
    public override string ToString() => $"{UserName} at {string.Join(", ", nodes.Select(NameOf))}, virtual host {VirtualHost}";

    private static string NameOf(AmqpTcpEndpoint node) => $"{node.HostName}:{node.Port}";

    /// <summary>The URI of each node, which differ in host and port.</summary>
    /// <exception cref="UriFormatException">One cannot be read.</exception>
    private static List<Uri> EachNode(string amqp)
    {
        var start = amqp.IndexOf("://", StringComparison.Ordinal) is >= 0 and var scheme ? scheme + 3 : 0;
        var end = amqp.IndexOf('/', start) is >= 0 and var path ? path : amqp.Length;
        start = amqp.LastIndexOf('@', end - 1, end - start) is >= 0 and var user ? user + 1 : start;
        var hosts = amqp[start..end].Split(',', StringSplitOptions.TrimEntries);
        if (hosts.Length > 1 && hosts.Contains(""))
            throw new UriFormatException("A host is empty.");

        return [.. hosts.Select(host => new Uri($"{amqp[..start]}{host}{amqp[end..]}"))];
    }

    private string WithEveryNode(Uri first)
    {
        if (nodes.Count == 1)
            return first.AbsoluteUri;

        var host = $"{first.Scheme}://{first.UserInfo}{(first.UserInfo.Length > 0 ? "@" : "")}".Length;
        return $"{first.AbsoluteUri[..host]}{string.Join(',', nodes.Select(NameOf))}{first.AbsoluteUri[(host + first.Authority.Length)..]}";
    }

    private static Uri ManagementOf(ConnectionFactory node) => (node.Ssl.Enabled
        ? new UriBuilder(Uri.UriSchemeHttps, node.HostName, ManagementPortWithTls)
        : new UriBuilder(Uri.UriSchemeHttp, node.HostName, ManagementPort)).Uri;

    // Relative paths are appended after the last slash.
    private static Uri ParseManagement(string address) =>
        Uri.TryCreate(address.TrimEnd('/') + "/", UriKind.Absolute, out var uri) && uri.Scheme is "http" or "https"
            ? uri
            : throw new BrokerException("The address of the management plugin cannot be read. Expected: http://host:15672, or https://…");
}
