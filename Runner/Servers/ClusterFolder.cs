namespace Kit.Runner.Servers;

/// <summary>The folder of one throw-away PostgreSQL cluster.</summary>
public sealed class ClusterFolder(OwnedFolder owned)
{
    private const string Prefix = "kit-postgresql-";

    public OwnedFolder Owned => owned;

    public string Server => owned.Server;

    public string Data => Path.Combine(Server, "data");

    public string Log => Path.Combine(Server, "log");

    public string Password => Path.Combine(Server, "password");

    /// <inheritdoc cref="OwnedFolder.Create"/>
    public static ClusterFolder Create(string parent) => new(OwnedFolder.Create(parent, Prefix, "private PostgreSQL cluster"));

    /// <inheritdoc cref="OwnedFolder.Leftovers"/>
    public static IEnumerable<ClusterFolder> Leftovers(string parent) =>
        OwnedFolder.Leftovers(parent, Prefix).Select(owned => new ClusterFolder(owned));
}
