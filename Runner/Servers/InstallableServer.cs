namespace Kit.Runner.Servers;

/// <summary>A server that <c>--install</c> can bring onto the machine.</summary>
/// <param name="Packages">The name of its package, for each <see cref="PackageManager.Name"/> that has one.</param>
public sealed record InstallableServer(string Name, Func<bool> IsPresent, IReadOnlyDictionary<string, string> Packages)
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
        });

    public static IReadOnlyList<InstallableServer> All { get; } = [PostgreSql];

    /// <summary>How to install it on this machine, in words.</summary>
    public string InstallHint() =>
        PackageManager.Detect() is { } manager && Packages.TryGetValue(manager.Name, out var package)
            ? $"Install it: {string.Join(" ", manager.CommandsFor(package)[^1])} (or start the kit once with --install)."
            : $"Install {Name}: this machine has none of the package managers {PackageManagers}.";

    private static string PackageManagers => string.Join(", ", PackageManager.All.Select(manager => manager.Name));
}
