namespace Kit.Runner.Servers;

/// <summary>A server that <c>--install</c> can install.</summary>
/// <param name="Packages">Package names by <see cref="PackageManager.Name"/>.</param>
/// <param name="IsRequired">True if every run needs it, or needs one that the user names.</param>
/// <param name="Notes">Other effects of the package that the user should know, by <see cref="PackageManager.Name"/>.</param>
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
            ["apt-get"] = "Debian and Ubuntu also create a cluster of their own and may start it; the kit neither uses nor touches it.",
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
                          "To stop it for good: systemctl disable --now rabbitmq-server.",
        });

    public static IReadOnlyList<InstallableServer> All { get; } = [PostgreSql, RabbitMq];

    /// <summary>Install instructions for this machine, as a sentence.</summary>
    public string InstallHint() => PackageManager.Detect() switch
    {
        { } manager when Packages.TryGetValue(manager.Name, out var package) =>
            $"Install it: {string.Join(" ", manager.CommandsFor(package)[^1])} (or start the kit once with --install).",
        { } manager => $"Install {Name} by hand: the kit knows no {manager.Name} package of it.",
        null => $"Install {Name}: this machine has none of the package managers {PackageManagers}.",
    };

    private static string PackageManagers => string.Join(", ", PackageManager.All.Select(manager => manager.Name));
}
