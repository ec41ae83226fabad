namespace Kit.Runner.Servers;

/// <summary>A server that <c>--install</c> can bring onto the machine.</summary>
/// <param name="Packages">The name of its package, for each <see cref="PackageManager.Name"/> that has one.</param>
/// <param name="IsRequired">Whether no run goes without it, or without one that the user names.</param>
/// <param name="Notes">What else the package does that its user should know, for the managers where it does.</param>
public sealed record InstallableServer(
    string Name,
    Func<bool> IsPresent,
    IReadOnlyDictionary<string, string> Packages,
    bool IsRequired = true,
    IReadOnlyDictionary<string, string>? Notes = null)
{
    public static InstallableServer PostgreSql { get; } = new(
        "PostgreSQL",
        () => PostgreSqlBinaries.Folders().Any(),
        new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["apt-get"] = "postgresql",
            ["dnf"] = "postgresql-server",
            ["apk"] = "postgresql",
            ["pacman"] = "postgresql",
            ["zypper"] = "postgresql-server",
            ["brew"] = "postgresql@17",
            ["winget"] = "PostgreSQL.PostgreSQL.17",
        },
        Notes: new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["apt-get"] = "Debian and Ubuntu also make a cluster of their own and may start it; the kit neither uses nor touches it.",
        });

    public static InstallableServer RabbitMq { get; } = new(
        "RabbitMQ",
        () => RabbitMqBinaries.Folders().Any(),
        new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["apt-get"] = "rabbitmq-server",
            ["dnf"] = "rabbitmq-server",
            ["apk"] = "rabbitmq-server",
            ["pacman"] = "rabbitmq",
            ["zypper"] = "rabbitmq-server",
            ["brew"] = "rabbitmq",
        },
        IsRequired: false,
        new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["apt-get"] = "Debian and Ubuntu also start a broker of their own as a service, on port 5672 of every address; " +
                           "the kit neither uses nor touches it. " +
                          "To end it for good: systemctl disable --now rabbitmq-server.",
        });

    public static IReadOnlyList<InstallableServer> All { get; } = [PostgreSql, RabbitMq];

    /// <summary>How to install it on this machine, in words.</summary>
    public string InstallHint() => PackageManager.Detect() switch
    {
        { } manager when Packages.TryGetValue(manager.Name, out var package) =>
            $"Install it: {string.Join(" ", manager.CommandsFor(package)[^1])} (or start the kit once with --install).",
        { } manager => $"Install {Name} by hand: the kit knows no package of it for {manager.Name}.",
        null => $"Install {Name}: this machine has none of the package managers {PackageManagers}.",
    };

    private static string PackageManagers => string.Join(", ", PackageManager.All.Select(manager => manager.Name));
}
