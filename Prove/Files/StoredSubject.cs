using System.Security.Cryptography;
using System.Text;
using Kit.Runner.Results;

namespace Kit.Prove.Files;

/// <summary>Results are continued only with what they began with.</summary>
internal static class StoredSubject
{
    private const string Library = ".dll";

    /// <param name="what">The folder and its results, as a sentence begins with them.</param>
    /// <exception cref="KitException">They are of another file, program or build of the kit or of the service.</exception>
    public static void Require(
        ProofFile file, string fingerprint, string what, string storedFile, string? storedProgram, string? storedFingerprint, string? storedService)
    {
        // Stored is a file without its passwords.
        if (file.Secrets.Mask(storedFile) != file.Secrets.Mask(file.Text))
            throw Other(what, $"another file, or of an earlier state of {file.Path}");
        if (storedProgram != file.Given)
            throw Other(what, $"another program: {storedProgram ?? "that of the file"}");
        if (storedFingerprint != fingerprint)
            throw Other(what, "another build of the kit");
        if (storedService != FingerprintOf(file))
            throw Other(what, "another build of the service: a file that its command names has changed");
    }

    /// <summary>The fingerprint of the files that the file's commands name, and of all libraries next to a .NET program.</summary>
    public static string FingerprintOf(ProofFile file)
    {
        var contents = file.Programs.SelectMany(program => program.Files).SelectMany(WithLibraries).Distinct().Order(StringComparer.Ordinal)
            .Select(path => $"{Path.GetFileName(path)} {HashOf(path)}\n");
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(string.Concat(contents))))[..12];
    }

    /// <summary>A program of .NET is a .dll, or has one with its name.</summary>
    private static IEnumerable<string> WithLibraries(string path)
    {
        var isOfDotNet = new[] { path, path + Library, Path.ChangeExtension(path, Library) }
            .Any(one => one.EndsWith(Library, StringComparison.OrdinalIgnoreCase) && File.Exists(one));
        return isOfDotNet ? Directory.EnumerateFiles(Path.GetDirectoryName(path)!, $"*{Library}").Append(path) : [path];
    }

    private static string HashOf(string path)
    {
        try
        {
            using var content = File.OpenRead(path);
            return Convert.ToHexStringLower(SHA256.HashData(content));
        }
        catch (UnauthorizedAccessException)
        {
            // One may execute it, and not read it.
            return $"{File.GetLastWriteTimeUtc(path):O}";
        }
    }

    /// <summary>An error about results that cannot be continued.</summary>
    public static KitException Other(string what, string of) => new($"{what} of {of}.", "Name another folder with --out.") { IsUsage = true };
}
