using System.Text.RegularExpressions;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>The server programs of one PostgreSQL installation on this machine.</summary>
/// <param name="Folder">The folder of <c>initdb</c>, <c>pg_ctl</c> and <c>postgres</c>.</param>
/// <param name="Version">As <c>postgres --version</c> reports it.</param>
public sealed partial record PostgreSqlBinaries(string Folder, Version Version)
{
    /// <summary>The oldest version that has <c>pg_current_xact_id</c> and <c>pg_xact_status</c>.</summary>
    public const int OldestMajorVersion = 13;

    // Where packages install the server's programs, besides the search path: Debian, Red Hat's and PostgreSQL's own packages, SUSE,
    // Alpine, a build from source, Homebrew on both processors, the Windows installer. "*" stands for one folder name.
    private static readonly IReadOnlyList<(string Parent, string Pattern, string Below)> UsualPlaces =
    [
        ("/usr/lib/postgresql", "*", "bin"),
        ("/usr", "pgsql-*", "bin"),
        ("/usr/lib", "postgresql*", "bin"),
        ("/usr/libexec", "postgresql*", ""),
        ("/usr/local", "pgsql", "bin"),
        ("/opt/homebrew/opt", "postgresql*", "bin"),
        ("/usr/local/opt", "postgresql*", "bin"),
        (Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.ProgramFiles), "PostgreSQL"), "*", "bin"),
    ];

    private static readonly IReadOnlyList<string> Programs = ["initdb", "pg_ctl", "postgres"];

    /// <summary>The newest installation on the search path or in the usual folders of packages.</summary>
    /// <exception cref="KitException">There is none, or none new enough; the remedy is the platform's install command.</exception>
    public static Task<PostgreSqlBinaries> FindAsync(CancellationToken cancellationToken) => NewestInAsync(Folders(), cancellationToken);

    /// <summary>The doctor's finding about them.</summary>
    /// <param name="isNeeded">False if a server is named.</param>
    public static async Task<Finding> ExamineAsync(bool isNeeded, CancellationToken cancellationToken)
    {
        const string what = "PostgreSQL programs";
        try
        {
            var binaries = await FindAsync(cancellationToken);
            return new Finding(what, $"{binaries.Version} in {binaries.Folder}");
        }
        catch (KitException missing)
        {
            return isNeeded
                ? new Finding(what, "none usable", missing.Message, missing.Remedy, IsFatal: true)
                : new Finding(what, "none usable, and none needed: a server is named");
        }
    }

    /// <summary>The folders with a whole installation, on the search path or among the usual ones of packages.</summary>
    public static IEnumerable<string> Folders() => OnSearchPath().Concat(ExternalProgram.FoldersIn(UsualPlaces)).Distinct().Where(IsWhole);

    /// <summary>The newest installation in the given folders; the first of equal ones.</summary>
    /// <inheritdoc cref="FindAsync" path="/exception"/>
    public static async Task<PostgreSqlBinaries> NewestInAsync(IEnumerable<string> folders, CancellationToken cancellationToken)
    {
        var found = new List<PostgreSqlBinaries>();
        foreach (var folder in folders.Where(IsWhole))
        {
            if (await VersionInAsync(folder, cancellationToken) is { } version)
                found.Add(new PostgreSqlBinaries(folder, version));
        }

        var newest = found.MaxBy(binaries => binaries.Version)
            ?? throw new KitException("No PostgreSQL server programs (initdb, pg_ctl, postgres) were found on this machine.", Remedy());
        return newest.Version.Major >= OldestMajorVersion
            ? newest
            : throw new KitException(
                $"PostgreSQL {OldestMajorVersion} or newer is needed; the newest found is {newest.Version} in {newest.Folder}.", Remedy());
    }

    /// <summary>The path of one of the installation's programs.</summary>
    public string PathOf(string name) => PathIn(Folder, name);

    private static IEnumerable<string> OnSearchPath()
    {
        if (ExternalProgram.OnSearchPath("pg_ctl") is not { } program)
            yield break;
        // A link on the search path leads to the folder of all programs of that version.
        if (File.ResolveLinkTarget(program, returnFinalTarget: true) is { } target)
            yield return Path.GetDirectoryName(target.FullName)!;
        yield return Path.GetDirectoryName(program)!;
    }

    private static bool IsWhole(string folder) => Programs.All(name => File.Exists(PathIn(folder, name)));

    private static async Task<Version?> VersionInAsync(string folder, CancellationToken cancellationToken)
    {
        var told = await new ExternalProgram(PathIn(folder, "postgres")).RunAsync(["--version"], cancellationToken);
        var match = VersionNumber().Match(told.Output);
        return match.Success ? new Version(int.Parse(match.Groups["major"].ValueSpan), MinorOf(match)) : null;
    }

    private static int MinorOf(Match match) => match.Groups["minor"].Success ? int.Parse(match.Groups["minor"].ValueSpan) : 0;

    private static string PathIn(string folder, string name) => Path.Combine(folder, ExternalProgram.FileNameOf(name));

    private static string Remedy() =>
        $"{InstallableServer.PostgreSql.InstallHint()} Or name a server to use with --postgresql or {ConnectionStrings.PostgreSqlVariable}.";

    [GeneratedRegex(@"\(PostgreSQL\) (?<major>\d+)(\.(?<minor>\d+))?", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex VersionNumber();
}
