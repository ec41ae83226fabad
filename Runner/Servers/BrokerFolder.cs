namespace Kit.Runner.Servers;

/// <summary>The folder of one throw-away RabbitMQ broker and of the port mapper (epmd) that Erlang needs.</summary>
public sealed class BrokerFolder(OwnedFolder owned)
{
    private const string Prefix = "kit-rabbitmq-";

    public OwnedFolder Owned => owned;

    public string Server => owned.Server;

    public string Settings => Path.Combine(Server, "rabbitmq.conf");

    public string Definitions => Path.Combine(Server, "definitions.json");

    public string Plugins => Path.Combine(Server, "enabled_plugins");

    public string Home => Path.Combine(Server, "home");

    public string Cookie => Path.Combine(Home, ".erlang.cookie");

    public string Data => Path.Combine(Server, "data");

    public string Log => Path.Combine(Server, "log");

    /// <summary>Output of the broker before it has a log, such as why it does not start.</summary>
    public string Output => Path.Combine(Server, "output");

    /// <summary>A link to the machine's epmd, so that its command line shows whose it is.</summary>
    public string PortMapper => Path.Combine(Server, "epmd");

    public string PortMapperOutput => Path.Combine(Server, "epmd.output");

    public string BrokerPid => Path.Combine(Server, "broker.pid");

    public string PortMapperPid => Path.Combine(Server, "epmd.pid");

    /// <inheritdoc cref="OwnedFolder.Create"/>
    public static BrokerFolder Create(string parent) => new(OwnedFolder.Create(parent, Prefix, "private RabbitMQ broker"));

    /// <inheritdoc cref="OwnedFolder.Leftovers"/>
    public static IEnumerable<BrokerFolder> Leftovers(string parent) =>
        OwnedFolder.Leftovers(parent, Prefix).Select(owned => new BrokerFolder(owned));
}
