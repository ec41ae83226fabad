namespace Kit.Runner.Servers;

/// <summary>A platform's package manager and its install commands.</summary>
/// <param name="Name">Program name.</param>
/// <param name="Refresh">Arguments that first update its package lists; empty if installing does that.</param>
/// <param name="Install">Arguments that install the packages that follow, without prompting.</param>
/// <param name="NeedsRoot">True if only root can install.</param>
/// <param name="Before">Arguments in front of the program; <see langword="null"/>: none.</param>
public sealed record PackageManager(
    string Name,
    IReadOnlyList<string> Refresh,
    IReadOnlyList<string> Install,
    bool NeedsRoot,
    IReadOnlyList<string>? Before = null)
{
    public static IReadOnlyList<PackageManager> All { get; } =
    [
        // Without the variable a package such as tzdata still prompts.
        new("apt-get", ["update"], ["install", "-y"], NeedsRoot: true, ["env", "DEBIAN_FRONTEND=noninteractive"]),
        new("dnf", [], ["install", "-y"], NeedsRoot: true),
        new("apk", [], ["add", "--update-cache"], NeedsRoot: true),
        new("pacman", [], ["-Sy", "--needed", "--noconfirm"], NeedsRoot: true),
        new("zypper", [], ["--non-interactive", "install"], NeedsRoot: true),
        new("brew", [], ["install"], NeedsRoot: false),
        new("winget", [], ["install", "--exact", "--accept-package-agreements", "--accept-source-agreements", "--id"], NeedsRoot: false),
    ];

    /// <summary>The first package manager found on the search path, or <see langword="null"/>.</summary>
    public static PackageManager? Detect() => All.FirstOrDefault(manager => ExternalProgram.OnSearchPath(manager.Name) is not null);

    /// <summary>The commands, each a program and its arguments, that install a package; with sudo if only root can and we are not root.</summary>
    public IReadOnlyList<IReadOnlyList<string>> CommandsFor(string package) =>
        Refresh.Count == 0
            ? [[.. Start, .. Install, package]]
            : [[.. Start, .. Refresh], [.. Start, .. Install, package]];

    private IReadOnlyList<string> Start => [.. NeedsRoot && !Environment.IsPrivilegedProcess ? Sudo : [], .. Before ?? [], Name];

    private static IReadOnlyList<string> Sudo => ["sudo"];
}
