using System.Runtime.CompilerServices;

namespace Kit.Tests.Samples;

/// <summary>What the README shows of the sample is compiled there.</summary>
public sealed class SnippetsOfTheReadme
{
    private const string Fence = "```";

    private static readonly string Root = RootOf();

    [Test]
    public void Each_stands_in_the_sample_word_for_word()
    {
        var sources = Directory.GetFiles(Path.Combine(Root, "Samples"), "*.cs", SearchOption.AllDirectories)
            .Select(source => Unindented(File.ReadAllText(source)))
            .ToList();
        var snippets = Snippets(File.ReadAllText(Path.Combine(Root, "README.md"))).ToList();

        Assert.That(snippets, Has.Count.EqualTo(6));
        foreach (var snippet in snippets)
            Assert.That(sources.Exists(source => source.Contains(Unindented(snippet), StringComparison.Ordinal)), Is.True, snippet);
    }

    private static IEnumerable<string> Snippets(string readme) =>
        readme.Split(Fence + "csharp\n").Skip(1).Select(rest => rest[..rest.IndexOf(Fence, StringComparison.Ordinal)]);

    private static string Unindented(string code) => string.Join('\n', code.ReplaceLineEndings("\n").Trim().Split('\n').Select(line => line.Trim()));

    private static string RootOf([CallerFilePath] string here = "") => Path.GetFullPath(Path.Combine(Path.GetDirectoryName(here)!, "..", ".."));
}
