using System.Text.RegularExpressions;

namespace Kit.Tests.Results;

/// <summary>The files of this repository, without what a build makes.</summary>
internal static partial class RepositoryFiles
{
    private const string Fence = "```";

    public static string Root { get; } = FindRoot();

    /// <param name="pattern">Such as <c>*.cs</c>.</param>
    public static IEnumerable<string> Of(string pattern) => Directory.EnumerateFiles(Root, pattern, SearchOption.AllDirectories)
        .Where(path => !Built().IsMatch(Path.GetRelativePath(Root, path)));

    /// <summary>The C# that a Markdown file shows, block by block.</summary>
    /// <param name="path">The file, from the root.</param>
    public static IEnumerable<string> Snippets(string path) =>
        File.ReadAllText(Path.Combine(Root, path)).ReplaceLineEndings("\n").Split(Fence + "csharp\n").Skip(1)
            .Select(rest => rest[..rest.IndexOf(Fence, StringComparison.Ordinal)]);

    /// <summary>Whether a snippet is a whole program, which <c>ApplicationOutside</c> runs.</summary>
    public static bool IsApplication(string snippet) => snippet.StartsWith("using ", StringComparison.Ordinal);

    private static string FindRoot()
    {
        var folder = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(folder, "Kit.sln")))
            folder = Path.GetDirectoryName(folder) ?? throw new InvalidOperationException("The tests run outside the kit's tree.");

        return folder;
    }

    [GeneratedRegex(@"(^|[\\/])(obj|bin)[\\/]", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Built();
}
