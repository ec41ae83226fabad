using System.Reflection;

namespace Kit.Modes;

/// <summary>A package that the user's package feed may lack; the build uses it where it is found (build/OptionalPackages.targets).</summary>
/// <param name="Name">The package's id.</param>
/// <param name="Group">The packages that come and go together; <c>Kit</c> and this name make the switch of the build.</param>
/// <param name="Version">The version wanted.</param>
/// <param name="Support">Whether the assembly was built with it.</param>
/// <param name="IsFromFolder">Whether it came from a folder, as a local build does, and not from a package server.</param>
/// <param name="Origin">The folder that it was taken from, or what NuGet said. Of this machine: for the terminal, not for results.</param>
public sealed record OptionalPackage(string Name, string Group, string Version, Support Support, bool IsFromFolder, string Origin)
{
    /// <summary>The optional packages that <paramref name="assembly"/> asked for when it was built.</summary>
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
            : Support.Missing($"the package feed has no {built.Name} {Series(built.Version)}");
        var origin = built.Folder.Length > 0 ? built.Folder : built.Answer;
        return new(built.Name, built.Group, built.Version, support, built.IsFromFolder, origin);
    }

    /// <summary>10.2.8 is of the series 10.2.x.</summary>
    private static string Series(string version) =>
        version.LastIndexOf('.') is > 0 and var end ? $"{version[..end]}.x" : version;
}
