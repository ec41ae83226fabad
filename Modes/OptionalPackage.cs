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
    private const string Prefix = "OptionalPackage:";

    /// <summary>The optional packages that <paramref name="assembly"/> asked for when it was built.</summary>
    public static IReadOnlyList<OptionalPackage> Of(Assembly assembly)
    {
        ArgumentNullException.ThrowIfNull(assembly);
        return [.. assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Where(fact => fact.Key.StartsWith(Prefix, StringComparison.Ordinal))
            .Select(fact => Parse(fact.Key[Prefix.Length..], fact.Value ?? ""))];
    }

    /// <summary>Reads what the build wrote: group, version wanted, switch, folder, whether a folder was its source, and NuGet's answer, parted by bars.</summary>
    internal static OptionalPackage Parse(string name, string facts)
    {
        if (facts.Split('|') is not [var group, var version, var choice, var folder, var isFromFolder, .. var answer])
            throw new FormatException($"Optional package {name}: expected group|version|switch|folder|from a folder|answer, found '{facts}'.");

        var support = choice.Equals("false", StringComparison.OrdinalIgnoreCase) ? Support.Missing($"the build left {name} out (Kit{group}=false)")
            : folder.Length == 0 ? Support.Missing($"the package feed has no {name} {Series(version)}")
            : Support.Yes;
        return new(name, group, version, support, isFromFolder.Equals("true", StringComparison.OrdinalIgnoreCase), folder.Length == 0 ? string.Join('|', answer) : folder);
    }

    /// <summary>10.2.8 is of the series 10.2.x.</summary>
    private static string Series(string version) =>
        version.LastIndexOf('.') is > 0 and var end ? $"{version[..end]}.x" : version;
}
