using System.Globalization;

namespace Kit.Tests.Architecture;

/// <summary>No compiler and no formatter holds <c>max_line_length</c> of .editorconfig for C#; this does.</summary>
public sealed class LinesOfTheSources
{
    private static int Limit => int.Parse(
        File.ReadLines(Path.Combine(RepositoryFiles.Root, ".editorconfig"))
            .SkipWhile(line => line != "[*.cs]")
            .First(line => line.StartsWith("max_line_length", StringComparison.Ordinal))
            .Split('=')[1],
        CultureInfo.InvariantCulture);

    [Test]
    public void Are_no_longer_than_the_editors_settings_say()
    {
        var limit = Limit;
        var sources = RepositoryFiles.Of("*.cs").ToList();

        Assert.That(sources, Is.Not.Empty);
        Assert.That(
            sources.SelectMany(path => PlacesOver(limit, path)).Order(StringComparer.Ordinal),
            Is.Empty,
            $"Lines of more than {limit} characters: break them after '(', ',' or '=>', and a text after a space.");
    }

    private static IEnumerable<string> PlacesOver(int limit, string path) => File.ReadLines(path)
        .Index()
        .Where(line => line.Item.Length > limit)
        .Select(line => $"{Path.GetRelativePath(RepositoryFiles.Root, path)}:{line.Index + 1}");
}
