using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>A built runner in its folder, of this checkout or any other.</summary>
/// <param name="Version">With the commit that it was built from.</param>
/// <param name="Fingerprint">Of the kit's own assemblies. Equal fingerprints mean builds of equal sources, byte for byte.</param>
internal sealed record Build(string Folder, string Version, string Fingerprint)
{
    /// <summary>Name of the program, which measures and also runs handlers.</summary>
    public const string Runner = "Kit.Runner";

    /// <summary>The reason why a folder has no build, and the remedy; <see langword="null"/> if it has one.</summary>
    public static string? WhyNot(string folder) => File.Exists(AssemblyIn(folder)) && File.Exists(ProgramIn(folder))
        ? null
        : $"expected a folder with a built {Runner}, found none in '{folder}'. Build that checkout (dotnet build Runner -c Release) and "
          + "name its " + Path.Combine("Runner", "bin", "Release", "net10.0");

    public static Build Open(string folder)
    {
        var full = Path.TrimEndingDirectorySeparator(Path.GetFullPath(folder));
        return new Build(full, FileVersionInfo.GetVersionInfo(AssemblyIn(full)).ProductVersion ?? "not known", FingerprintOf(full));
    }

    private static readonly Lazy<Build> This = new(() => Open(AppContext.BaseDirectory));

    /// <summary>The build of this process.</summary>
    public static Build OfThis() => This.Value;

    /// <summary>Another build can have taken this one's place since <see cref="OfThis"/>: what is started now would be of that one.</summary>
    /// <exception cref="KitException">It has.</exception>
    public static void RequireInPlace()
    {
        if (FingerprintOf(AppContext.BaseDirectory) != OfThis().Fingerprint)
            throw new KitException(
                $"The program was built anew while it ran, in {AppContext.BaseDirectory}: what it starts from now on would be of another build.",
                "Leave the clone alone until the command has ended, or use a second one: git worktree add ../other");
    }

    public string Program => ProgramIn(Folder);

    /// <summary>The commit that it was built from; <see langword="null"/>: its version names none.</summary>
    public string? Commit => Version.Split('+') is [_, { Length: > 0 } builtOf] ? builtOf : null;

    /// <summary>The program's assembly in a folder.</summary>
    public static string AssemblyIn(string folder) => Path.Combine(folder, $"{Runner}.dll");

    private static string ProgramIn(string folder) => Path.Combine(folder, ExternalProgram.FileNameOf(Runner));

    /// <summary>The fingerprint of the kit's assemblies in a folder.</summary>
    public static string FingerprintOf(string folder)
    {
        var contents = Directory.GetFiles(folder, "Kit.*.dll").Order(StringComparer.Ordinal)
            .Select(path => $"{Path.GetFileName(path)} {Convert.ToHexStringLower(SHA256.HashData(File.ReadAllBytes(path)))}\n");
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(string.Concat(contents))))[..12];
    }
}
