namespace Kit.Runner.Servers;

/// <summary>A platform's package manager and how it is told to install.</summary>
/// <param name="Name">Its program.</param>
/// <param name="Refresh">Arguments that bring its lists up to date first; empty where installing does that by itself.</param>
/// <param name="Install">Arguments that install, without questions, the packages that follow.</param>
/// <param name="NeedsRoot">Whether only root can install.</param>
/// <param name="Before">What stands before its program; <see langword="null"/>: nothing.</param>
public sealed record PackageManager(
    string Name,
    IReadOnlyList<string> Refresh,
    IReadOnlyList<string> Install,
    bool NeedsRoot,
    IReadOnlyList<string>? Before = null)
{
    public static IReadOnlyList<PackageManager> All { get; } =
    [
        // Without the variable a package such as tzdata asks its questions even so.
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

    /// <summary>The commands, each a program and its arguments, that install a package; with sudo where only root can and we are not.</summary>
    public IReadOnlyList<IReadOnlyList<string>> CommandsFor(string package) =>
        Refresh.Count == 0
            ? [[.. Start, .. Install, package]]
            : [[.. Start, .. Refresh], [.. Start, .. Install, package]];

    private IReadOnlyList<string> Start => [.. NeedsRoot && !Environment.IsPrivilegedProcess ? Sudo : [], .. Before ?? [], Name];

    private static IReadOnlyList<string> Sudo => ["sudo"];
}
