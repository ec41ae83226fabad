using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Kit.Tests.Architecture;

/// <summary>The house as it is drawn in CONTRIBUTING.md, without its tests, and as its projects reference each other.</summary>
public sealed partial class ReferencesBetweenProjects
{
    private static IEnumerable<string> Projects => RepositoryFiles.Of("*.csproj");

    [Test]
    public void Are_as_drawn()
    {
        var drawn = DrawnReference().Matches(File.ReadAllText(Path.Combine(RepositoryFiles.Root, "CONTRIBUTING.md")))
            .Select(match => (From: match.Groups["from"].Value, To: match.Groups["to"].Value))
            .ToList();

        Assert.That(drawn, Is.Not.Empty);
        Assert.That(
            Projects.SelectMany(ReferencesOf).Where(reference => !reference.From.StartsWith("Tests.", StringComparison.Ordinal)).Order(),
            Is.EqualTo(drawn.Order()),
            "A project references another than CONTRIBUTING.md draws. Is the new reference right, draw it; " +
            "if not, what is needed belongs in a project that both may reference.");
    }

    [Test]
    public void Lead_in_no_circle()
    {
        var references = Projects.SelectMany(ReferencesOf).ToLookup(reference => reference.From, reference => reference.To);

        foreach (var project in references.Select(group => group.Key))
            Assert.That(Reached(project, references), Does.Not.Contain(project));
    }

    /// <summary>What an application ships with an endpoint.</summary>
    [Test]
    public void Keep_the_oracle_out_of_applications()
    {
        var references = Projects.SelectMany(ReferencesOf).ToLookup(reference => reference.From, reference => reference.To);

        string[] libraries =
        [
            "Bare", "Bare.PostgreSql", "Bare.RabbitMq", "Bare.SqlServer", "MassTransit", "NServiceBus", "NServiceBus.PostgreSql", "Rebus.PostgreSql",
            "Wolverine",
        ];
        foreach (var library in libraries)
            Assert.That(Reached(library, references), Does.Not.Contain("Guarantees").And.Not.Contain("Runner"), library);
    }

    /// <summary>What a service of somebody else is proven and measured with.</summary>
    [Test]
    public void Keep_cells_out_of_what_any_service_needs()
    {
        var references = Projects.SelectMany(ReferencesOf).ToLookup(reference => reference.From, reference => reference.To);

        foreach (var library in new[] { "Results", "Servers", "Wire", "Measuring", "Points", "Terminal", "Prove" })
            Assert.That(Reached(library, references), Does.Not.Contain("Cells").And.Not.Contain("Stage").And.Not.Contain("Runner"), library);

        Assert.That(Reached("Runner", references), Does.Not.Contain("Prove"));
    }

    [Test]
    public void Keep_the_commands_apart_that_measure_and_judge_cells()
    {
        var references = Projects.SelectMany(ReferencesOf).ToLookup(reference => reference.From, reference => reference.To);
        var slices = new[] { "Rounds", "Faults", "Loads" };

        foreach (var slice in slices)
            Assert.That(Reached(slice, references).Intersect(slices), Is.Empty, slice);
    }

    private static IEnumerable<(string From, string To)> ReferencesOf(string project) =>
        XDocument.Load(project).Descendants("ProjectReference").Select(reference => (
            Path.GetFileNameWithoutExtension(project),
            Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value.Replace('\\', '/'))));

    private static HashSet<string> Reached(string project, ILookup<string, string> references)
    {
        var reached = new HashSet<string>(StringComparer.Ordinal);
        var next = new Queue<string>(references[project]);
        while (next.TryDequeue(out var one))
        {
            if (!reached.Add(one))
                continue;
            foreach (var further in references[one])
                next.Enqueue(further);
        }

        return reached;
    }

    [GeneratedRegex(@"^\s+(?<from>[\w.]+) --> (?<to>[\w.]+)\r?$", RegexOptions.Multiline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex DrawnReference();
}
