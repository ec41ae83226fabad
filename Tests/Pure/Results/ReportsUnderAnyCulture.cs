using System.Globalization;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Comparing;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results;

/// <summary>
/// The same approved text under each culture. The process knows the invariant culture alone, so the others are built with the marks
/// that would show: a decimal comma, a point between thousands, other separators in dates and times.
/// </summary>
[TestFixtureSource(nameof(Cultures))]
public sealed class ReportsUnderAnyCulture(string culture)
{
    private CultureInfo before = CultureInfo.InvariantCulture;

    private static readonly string[] Cultures = ["invariant", "de-DE", "tr-TR"];

    [SetUp]
    public void Switch()
    {
        before = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture = Built(culture);
    }

    [TearDown]
    public void SwitchBack() => CultureInfo.CurrentCulture = before;

    [Test]
    public void Tables_are_as_approved() => Verify("tables.md", output => MarkdownTables.Write(InventedRun.Recorded, "graphs.svg", output));

    [Test]
    public void Csv_is_as_approved() => Verify("rounds.csv", output => RoundsCsv.Write(InventedRun.Recorded, output));

    [Test]
    public void Terminal_summary_is_as_approved() =>
        Verify("terminal-summary.txt", output => TerminalSummary.Write(InventedRun.Recorded, output, width: 100));

    [Test]
    public void Guarantees_are_as_approved()
    {
        var report = new GuaranteeReport(InventedExperiments.Document, InventedExperiments.Results);

        Verify("guarantees.md", report.WriteMarkdown);
        Verify("guarantees.csv", report.WriteCsv);
        Verify("guarantees.txt", output => report.WriteTerminal(output, width: 140));
    }

    [Test]
    public void Comparison_of_builds_is_as_approved()
    {
        var report = new ComparisonReport(
            "compare --build before --build after --threshold 5",
            ComparedSpeeds.ByRound(InventedSides.Before, InventedSides.After, InventedSides.Gate),
            promises: null);

        Verify("compare-builds.md", report.WriteMarkdown);
        Verify("compare-builds.txt", output => report.WriteTerminal(output, width: 140));
    }

    [Test]
    public void Comparison_of_stored_results_is_as_approved()
    {
        var now = InventedExperiments.Results.Select(result => result.Verdict is FaultVerdict.Kept ? Broken(result) : result).ToList();
        var report = new ComparisonReport(
            "compare before after",
            ComparedSpeeds.ByReference(InventedRun.Recorded, InventedSides.After, reference: null, InventedSides.NoGate),
            new ComparedPromises(
                new(InventedExperiments.Document, InventedExperiments.Results), new(InventedExperiments.Document with { Commit = null }, now)));

        Verify("compare-runs.md", report.WriteMarkdown);
        Verify("compare-runs.txt", output => report.WriteTerminal(output, width: 140));

        static FaultResult Broken(FaultResult result) => result with
        {
            Verdict = FaultVerdict.Broken,
            Violations = [new Violation(Guid.Empty, "message 1 is lost; allowed: once", ["sent: acked"])],
        };
    }

    [Test]
    public void Graphs_are_as_approved() =>
        Verify("graphs.svg", output => SvgGraphs.Write(new RecordedRun(InventedRun.Document, [InventedRun.Rounds[0], InventedRun.Rounds[^1]]), output));

    [Test]
    public void Documents_are_as_approved()
    {
        var path = Path.Combine(TestContext.CurrentContext.WorkDirectory, "documents", culture, Guid.NewGuid().ToString("N"));
        var folder = RunFolder.Create(path, InventedRun.Document);
        folder.Save(InventedRun.Rounds[0] with { OffsetsMilliseconds = [0.25, 1.5, 1_234.567] });

        Approval.Verify("run.json", File.ReadAllText(Path.Combine(path, "run.json")));
        Approval.Verify("rounds.jsonl", File.ReadAllText(Path.Combine(path, "rounds.jsonl")));
        Directory.Delete(path, recursive: true);
    }

    private static void Verify(string name, Action<TextWriter> write)
    {
        using var output = new StringWriter { NewLine = "\n" };
        write(output);
        Approval.Verify(name, output.ToString());
    }

    private static CultureInfo Built(string name)
    {
        var built = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        if (name is "invariant")
            return built;
        built.NumberFormat.NumberDecimalSeparator = ",";
        built.NumberFormat.NumberGroupSeparator = ".";
        built.NumberFormat.PercentDecimalSeparator = ",";
        built.NumberFormat.NegativeSign = name is "tr-TR" ? "\u2212" : "-";
        built.DateTimeFormat.DateSeparator = ".";
        built.DateTimeFormat.TimeSeparator = ".";
        return built;
    }
}
