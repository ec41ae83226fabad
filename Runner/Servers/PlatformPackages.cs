using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>Installs missing servers with the machine's package manager, and prints each command before it runs.</summary>
/// <param name="manager"><see langword="null"/>: the machine has no known one.</param>
public sealed class PlatformPackages(IReadOnlyList<InstallableServer> servers, PackageManager? manager)
{
    public PlatformPackages()
        : this(InstallableServer.All, PackageManager.Detect())
    {
    }

    /// <summary>Installs only what is missing. The package manager itself writes to the terminal.</summary>
    /// <param name="output">Receives the names of present packages, and each command before it runs.</param>
    /// <exception cref="KitException">
    /// There is no known package manager, it has no such package, only root can install, or a command failed; the message has its exit code.
    /// For an optional server, this is written to <paramref name="output"/> instead.
    /// </exception>
    public async Task InstallMissingAsync(TextWriter output, CancellationToken cancellationToken)
    {
        foreach (var server in servers)
        {
            if (server.IsPresent())
                await output.WriteLineAsync($"{server.Name} is installed.");
            else
                await TryInstallAsync(server, output, cancellationToken);
        }
    }

    private async Task TryInstallAsync(InstallableServer server, TextWriter output, CancellationToken cancellationToken)
    {
        try
        {
            await InstallAsync(server, output, cancellationToken);
        }
        catch (KitException failure) when (!server.IsRequired)
        {
            await output.WriteLineAsync($"{failure.Message} Runs leave {server.Name} out until it is installed.");
            await output.WriteLineAsync($"  → {failure.Remedy}");
        }
    }

    private async Task InstallAsync(InstallableServer server, TextWriter output, CancellationToken cancellationToken)
    {
        var commands = CommandsFor(server);
        if (manager is not null && server.Notes?.TryGetValue(manager.Name, out var note) is true)
            await output.WriteLineAsync(note);
        foreach (var command in commands)
        {
            await output.WriteLineAsync($"{server.Name} is missing. Running: {string.Join(' ', command)}");
            var exitCode = await new ExternalProgram(command[0]).RunOnTerminalAsync(command.Skip(1), cancellationToken);
            if (exitCode != 0)
                throw new KitException(
                    $"Installing {server.Name} failed: '{string.Join(' ', command)}' ended with exit code {exitCode}.",
                    "See its message above; fix the cause, or run the command by hand.");
        }

        if (!server.IsPresent())
            throw new KitException(
                $"{server.Name} was installed, but its programs were not found in the usual folders.",
                $"Add the folder of its programs to the search path (PATH).");
    }

    private IReadOnlyList<IReadOnlyList<string>> CommandsFor(InstallableServer server)
    {
        if (manager is null)
            throw new KitException(
                $"{server.Name} is missing, and no known package manager was found.",
                $"Install {server.Name} by hand. Known: {string.Join(", ", PackageManager.All.Select(known => known.Name))}.");
        if (!server.Packages.TryGetValue(manager.Name, out var package))
            throw new KitException(
                $"{server.Name} is missing, and the kit knows no {manager.Name} package of it.", $"Install {server.Name} by hand.");
        var commands = manager.CommandsFor(package);
        if (commands[0] is ["sudo", ..] && ExternalProgram.OnSearchPath("sudo") is null)
            throw new KitException(
                $"{server.Name} is missing, and only root can install it: this user is not root and there is no sudo.",
                $"Run as root: {string.Join(" && ", commands.Select(command => string.Join(' ', command.Skip(1))))}");
        return commands;
    }
}

/// <summary>A platform's package manager and its install commands.</summary>
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
