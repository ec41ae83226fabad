using System.Reflection;

namespace Kit.Modes;

/// <summary>A package that the user's package feed may lack; the build uses it where it is found (build/OptionalPackages.targets).</summary>
/// <param name="Name">The package's id.</param>
/// <param name="Group">The group that it is used or left out with; the build's switch is <c>Kit</c> followed by this name.</param>
/// <param name="Version">The requested version.</param>
/// <param name="Support">Whether the assembly was built with it.</param>
/// <param name="IsFromFolder">Whether it came from a folder, such as a local build, and not from a package server.</param>
/// <param name="Origin">The folder that it came from, or NuGet's answer. Specific to this machine: for the terminal, not for results.</param>
public sealed record OptionalPackage(string Name, string Group, string Version, Support Support, bool IsFromFolder, string Origin)
{
    /// <summary>The optional packages that the build of <paramref name="assembly"/> looked for.</summary>
    public static IReadOnlyList<OptionalPackage> Of(Assembly assembly)
    {
        ArgumentNullException.ThrowIfNull(assembly);
        return [.. assembly.GetCustomAttributes<OptionalPackageAttribute>().Select(Describe)];
    }

    internal static OptionalPackage Describe(OptionalPackageAttribute built)
    {
        var support = built.Folder.Length > 0 ? Support.Yes
            : built.Choice.Equals("false", StringComparison.OrdinalIgnoreCase)
                ? Support.Missing($"the build left {built.Name} out (Kit{built.Group}=false)")
            : built.IsUnknown
                ? Support.Missing($"the package feed gave no answer about {built.Name} {Series(built.Version)}")
            : Support.Missing($"the package feed has no {built.Name} {Series(built.Version)}");
        var origin = built.Folder.Length > 0 ? built.Folder : built.Answer;
        return new(built.Name, built.Group, built.Version, support, built.IsFromFolder, origin);
    }

    /// <summary>For 10.2.8: 10.2.x.</summary>
    private static string Series(string version) =>
        version.LastIndexOf('.') is > 0 and var end ? $"{version[..end]}.x" : version;
}
