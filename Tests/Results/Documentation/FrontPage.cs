using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Documentation;

/// <summary>The README is read in two minutes, and its figures are those of the run that it names.</summary>
public sealed class FrontPage
{
    private const string Readme = "README.md";

    private static readonly RecordedRun Run = RunFolder.Open(Path.Combine(RepositoryFiles.Root, "results", "all")).Load();
    private static readonly MarkdownPage Page = new(Readme);

    // In the order of the tables of storms.
    private static readonly (string Word, DeliveryClass[] Classes)[] NotOnce =
    [
        ("lost", [DeliveryClass.Lost]),
        ("doubled", [DeliveryClass.Duplicated, DeliveryClass.DuplicatedOutgoing]),
        ("ghost", [DeliveryClass.Ghost]),
        ("zombie", [DeliveryClass.Zombie]),
        ("torn", [DeliveryClass.Torn]),
        ("in doubt", [DeliveryClass.InDoubt]),
        ("error", [DeliveryClass.CleanError]),
        ("other", [DeliveryClass.Unexpected, DeliveryClass.Stuck]),
    ];

    [Test]
    public void Is_short()
    {
        var file = Path.Combine(RepositoryFiles.Root, Readme);

        Assert.That(File.ReadLines(file).Count(), Is.LessThanOrEqualTo(110), "lines of README.md: a page under docs/ has more room");
        Assert.That(new FileInfo(file).Length, Is.LessThanOrEqualTo(8_192), "bytes of README.md: a page under docs/ has more room");
    }

    [Test]
    public void Its_snippets_are_short() =>
        Assert.That(RepositoryFiles.Snippets(Readme).Select(snippet => snippet.TrimEnd('\n').Split('\n').Length), Has.All.LessThanOrEqualTo(7));

    [Test]
    public void Its_table_has_each_mode_of_the_run() =>
        Assert.That(Page.TableOf("modes-table").Skip(1).Select(row => row[0].Trim('`')), Is.EqualTo(Bare.Select(cell => cell.Cell.Mode)));

    [Test]
    public void Its_rates_are_those_of_the_run()
    {
        foreach (var row in Page.TableOf("modes-table").Skip(1))
        {
            var rate = RateOf(row[0].Trim('`'));
            Assert.That(
                row[2], Is.EqualTo($"{Figures.Measured(rate.Mean)} ({Figures.Measured(rate.Low)} to {Figures.Measured(rate.High)})"), row[0]);
            Assert.That(row[3], Is.EqualTo(Figures.None), "The run has no rounds of insert-and-send.");
        }
    }

    [Test]
    public void Its_storms_are_those_that_were_made()
    {
        var storms = new FaultFolder(Path.Combine(RepositoryFiles.Root, "results", "guarantees")).LoadResults()
            .Where(result => result.Storm is not null && result.Cell is { Framework: "bare", Transport: "postgresql" })
            .ToDictionary(result => result.Cell.Mode, result => TextOf(result.Counts));

        foreach (var row in Page.TableOf("modes-table").Skip(1))
            Assert.That(row[4], Is.EqualTo(storms[row[0].Trim('`')]), row[0]);
    }

    /// <summary>The whole interval of the ratio, taken round by round, must be on the side that the sentence names.</summary>
    [Test]
    public void What_it_calls_surprising_is_so()
    {
        var (shared, none) = (CellOf("shared"), CellOf("transactions-off"));

        Assert.That(shared.Against(none)!.IntervalAt(0.05)!.Low, Is.GreaterThan(1), "'shared' is no longer the faster one: take another sentence.");
        Assert.That(
            Page.LinesOf("surprise").Single(),
            Does.Contain($"{Figures.Measured(shared.Rate!.Mean)} messages a second, and `transactions-off` {Figures.Measured(none.Rate!.Mean)}."));
    }

    private static IEnumerable<CellResult> Bare => Run.Cells.Where(cell => cell.Cell is { Framework: "bare", Transport: "postgresql" });

    private static CellResult CellOf(string mode) => Bare.Single(cell => cell.Cell.Mode == mode);

    private static Estimate RateOf(string mode) => CellOf(mode).Rate!;

    private static string TextOf(IReadOnlyDictionary<DeliveryClass, int> counts)
    {
        var words = NotOnce.Select(entry => (entry.Word, Count: entry.Classes.Sum(counts.GetValueOrDefault))).Where(entry => entry.Count > 0).ToList();
        return words.Count == 0 ? "0" : string.Join(", ", words.Select(entry => $"{Figures.Plain(entry.Count)} {entry.Word}"));
    }
}
