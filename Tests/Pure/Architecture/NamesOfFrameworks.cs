using System.Text.RegularExpressions;
using Kit.Endpoints.Cells;

namespace Kit.Tests.Architecture;

/// <summary>What differs by framework is in its kind and its facts. Code that is chosen by a name elsewhere would not know the next framework.</summary>
public sealed partial class NamesOfFrameworks
{
    private static readonly string[] Folders = ["Guarantees", "Handlers", "Modes", "Proofs", "Runner"];

    /// <summary>Reports know the floor that others are compared with, and the table of modes has a column for NServiceBus, whose names they have.</summary>
    private static readonly Dictionary<string, string[]> Allowed = new()
    {
        ["Runner/Results/RecordedRun.cs"] = ["\"bare\""],
        ["Runner/Results/Pages/ModesTable.cs"] = ["InNServiceBus"],
        ["Guarantees/ModeText.cs"] = ["InNServiceBus", "\"NServiceBus\""],
        ["Modes/TransactionMode.cs"] = ["InNServiceBus"],
        // Tables of stored runs, which know no kinds, ask it.
        ["Guarantees/SendsInMemory.cs"] = ["\"wolverine\""],
    };

    [Test]
    public void Are_in_their_kinds_alone()
    {
        // The examples of a command line are longer texts, and name frameworks. The kit's own endpoint is a library that the runner uses, too.
        var names = EndpointKinds.Frameworks.SelectMany(framework => new[] { $"\"{framework.Name}\"", $"\"{framework.Title}\"" }).ToList();
        var titles = EndpointKinds.Frameworks.Where(framework => framework.Title != framework.Name).Select(framework => framework.Title).ToList();

        Assert.That(
            from path in RepositoryFiles.Of("*.cs").Concat(RepositoryFiles.Of("*.razor"))
            let file = Path.GetRelativePath(RepositoryFiles.Root, path).Replace('\\', '/')
            where Folders.Contains(file.Split('/')[0])
            let text = Comment().Replace(File.ReadAllText(path), "")
            from met in LiteralsIn(text).Where(literal => names.Contains(literal, StringComparer.OrdinalIgnoreCase))
                .Concat(IdentifiersIn(text).Where(name => titles.Exists(title => name.Contains(title, StringComparison.OrdinalIgnoreCase))))
                .Distinct()
            where !Allowed.GetValueOrDefault(file, []).Contains(met)
            select $"{file} names {met}",
            Is.Empty,
            "The runner asks a cell's kind, or the facts of its framework.");
    }

    private static IEnumerable<string> LiteralsIn(string text) => Literal().Matches(text).Select(match => match.Value);

    private static IEnumerable<string> IdentifiersIn(string text) => Identifier().Matches(Literal().Replace(text, "")).Select(match => match.Value);

    [GeneratedRegex(@"""""""[\s\S]*?""""""|""(?:[^""\\\n]|\\.)*""", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Literal();

    [GeneratedRegex(@"//.*", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Comment();

    [GeneratedRegex(@"\b[A-Za-z_]\w*", RegexOptions.None, matchTimeoutMilliseconds: 10_000)]
    private static partial Regex Identifier();
}
