using System.Text.RegularExpressions;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>The scripts of one RabbitMQ installation on this machine.</summary>
/// <param name="Folder">Its <c>sbin</c>: the scripts themselves, without a package's wrapper, which forces its own folders and user.</param>
/// <param name="Version">From the name of its core plugin's folder: asking a script would start an Erlang virtual machine.</param>
/// <param name="PortMapper">Erlang's epmd.</param>
public sealed partial record RabbitMqBinaries(string Folder, Version Version, string PortMapper)
{
    // Where packages install it, besides the search path: Debian and Red Hat, Arch, Alpine, container images and unpacked archives, Homebrew
    // on both processors, the Windows installer. "*" stands for one folder name.
    private static readonly IReadOnlyList<(string Parent, string Pattern, string Below)> UsualPlaces =
    [
        ("/usr/lib/rabbitmq/lib", "rabbitmq_server-*", "sbin"),
        ("/usr/lib64/rabbitmq/lib", "rabbitmq_server-*", "sbin"),
        ("/usr/lib", "rabbitmq", "bin"),
        ("/usr/lib", "rabbitmq", "sbin"),
        ("/opt", "rabbitmq*", "sbin"),
        ("/usr/local", "rabbitmq*", "sbin"),
        ("/opt/homebrew/opt", "rabbitmq", "sbin"),
        ("/usr/local/opt", "rabbitmq", "sbin"),
        (Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.ProgramFiles), "RabbitMQ Server"), "rabbitmq_server-*", "sbin"),
    ];

    /// <summary>The newest installation on the search path or in the usual folders of packages.</summary>
    /// <exception cref="KitException">There is none, or no Erlang; the remedy is the platform's install command.</exception>
    public static RabbitMqBinaries Find() => NewestIn(Folders());

    /// <summary>The folders with a whole installation, on the search path or among the usual ones of packages.</summary>
    public static IEnumerable<string> Folders() => Whole(OnSearchPath().Concat(ExternalProgram.FoldersIn(UsualPlaces)));

    /// <summary>The newest installation in the given folders; the first of equal ones.</summary>
    /// <inheritdoc cref="Find" path="/exception"/>
    public static RabbitMqBinaries NewestIn(IEnumerable<string> folders)
    {
        var newest = Whole(folders).Select(folder => (Folder: folder, Version: VersionIn(folder)!)).OrderByDescending(found => found.Version).FirstOrDefault();
        if (newest.Folder is null)
            throw new KitException("No RabbitMQ broker (rabbitmq-server) was found on this machine.", Remedy());
        return FindPortMapper() is { } mapper
            ? new RabbitMqBinaries(newest.Folder, newest.Version, mapper)
            : throw new KitException(
                $"RabbitMQ {newest.Version} was found in {newest.Folder}, but not Erlang: epmd is not on the search path.",
                $"Install Erlang, or add its programs to the search path. Or name a broker to use with --rabbitmq or {ConnectionStrings.RabbitMqVariable}.");
    }

    /// <summary>The path of one of the installation's scripts.</summary>
    public string PathOf(string name) => Path.Combine(Folder, ScriptNameOf(name));

    private static IEnumerable<string> OnSearchPath() =>
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Where(folder => File.Exists(Path.Combine(folder, ScriptNameOf("rabbitmq-server"))));

    private static IEnumerable<string> Whole(IEnumerable<string> folders) =>
        folders.Select(OfScript).OfType<string>().Where(folder => VersionIn(folder) is not null).Distinct(StringComparer.Ordinal);

    // A link leads to the folder of the scripts, or to a wrapper.
    private static string? OfScript(string folder)
    {
        var script = Path.Combine(folder, ScriptNameOf("rabbitmq-server"));
        if (!File.Exists(script))
            return null;
        var target = File.ResolveLinkTarget(script, returnFinalTarget: true)?.FullName ?? script;
        return Path.GetFileName(target) == ScriptNameOf("rabbitmq-server") ? Path.GetDirectoryName(target) : null;
    }

    private static Version? VersionIn(string folder)
    {
        var plugins = Path.Combine(folder, "..", "plugins");
        return Directory.Exists(plugins)
            ? Directory.EnumerateFileSystemEntries(plugins, "rabbit-*").Select(VersionOf).OfType<Version>().Max()
            : null;
    }

    private static Version? VersionOf(string plugin)
    {
        var match = CorePlugin().Match(Path.GetFileName(plugin));
        return match.Success ? Version.Parse(match.Groups["version"].ValueSpan) : null;
    }

    private static string? FindPortMapper()
    {
        if (ExternalProgram.OnSearchPath("epmd") is { } program)
            return program;
        // A link on the search path leads to the folder of Erlang's programs.
        if (ExternalProgram.OnSearchPath("erl") is not { } erl)
            return null;
        var target = File.ResolveLinkTarget(erl, returnFinalTarget: true)?.FullName ?? erl;
        var neighbour = Path.Combine(Path.GetDirectoryName(target)!, ExternalProgram.FileNameOf("epmd"));
        return File.Exists(neighbour) ? neighbour : null;
    }

    private static string ScriptNameOf(string name) => OperatingSystem.IsWindows() ? name + ".bat" : name;

    private static string Remedy() =>
        $"{InstallableServer.RabbitMq.InstallHint()} Or name a broker to use with --rabbitmq or {ConnectionStrings.RabbitMqVariable}.";

    [GeneratedRegex(@"^rabbit-(?<version>\d+\.\d+(\.\d+)?)", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex CorePlugin();
}
