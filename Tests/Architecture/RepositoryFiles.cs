using System.Text.RegularExpressions;

namespace Kit.Tests.Architecture;

/// <summary>The files of this repository, without what a build makes.</summary>
internal static partial class RepositoryFiles
{
    public static string Root => ReferenceRunsInTheReadme.Root;

    /// <param name="pattern">Such as <c>*.cs</c>.</param>
    public static IEnumerable<string> Of(string pattern) => Directory.EnumerateFiles(Root, pattern, SearchOption.AllDirectories)
        .Where(path => !Built().IsMatch(Path.GetRelativePath(Root, path)));

    [GeneratedRegex(@"(^|[\\/])(obj|bin)[\\/]", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Built();
}
