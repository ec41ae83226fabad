using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results;

/// <summary>A folder that is handed in is a complete run, and its reports are those that its rounds give.</summary>
public sealed class ResultHandedIn
{
    private TemporaryFolder temporary = null!;

    private string Folder => temporary.Below("run");

    [SetUp]
    public void MakeFolder() => temporary = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => temporary.Dispose();

    [TestCase(false)]
    [TestCase(true)]
    public void Is_whole_with_experiments_and_without(bool hasExperiments)
    {
        Save(InventedRun.Document);
        if (hasExperiments)
            SaveExperiments();
        ResultFolder.Load(Folder).WriteReports();

        Assert.That(ResultFolder.Load(Folder).RequireWhole, Throws.Nothing);
    }

    [Test]
    public void A_stopped_run_is_none()
    {
        SaveWithReports(InventedRun.Document with { Ending = RunEnding.Stopped("Ctrl+C") });

        AssertRefused("the run was not completed (stopped: Ctrl+C)");
    }

    [Test]
    public void A_run_that_lacks_a_round_is_none()
    {
        SaveWithReports(InventedRun.Document with { Settings = InventedRun.Document.Settings with { Rounds = 5 } });
        var lines = Path.Combine(Folder, "rounds.jsonl");
        File.WriteAllLines(lines, [.. File.ReadLines(lines).SkipLast(1)]);

        AssertRefused("has no line for bare/postgresql/transactions-off/ado, round 5");
    }

    [Test]
    public void Experiments_alone_are_none()
    {
        SaveExperiments();

        AssertRefused("it contains no run");
    }

    [Test]
    public void An_experiment_that_was_not_saved_whole_is_named()
    {
        Save(InventedRun.Document);
        SaveExperiments();
        File.AppendAllText(Path.Combine(Folder, "faults.jsonl"), "{\"schema\"");
        ResultFolder.Load(Folder).WriteReports();

        AssertRefused("an experiment was not saved completely");
    }

    [Test]
    public void Experiments_that_were_stopped_are_counted()
    {
        Save(InventedRun.Document);
        SaveExperiments();
        var experiments = new FaultFolder(Folder);
        experiments.Save(experiments.LoadDocument() with { Outstanding = ["a.cell.kill-before-ack"] });
        ResultFolder.Load(Folder).WriteReports();

        AssertRefused("1 experiments with faults are outstanding");
    }

    [TestCase("tables.md")]
    [TestCase("graphs.svg")]
    [TestCase("rounds.csv")]
    public void A_report_that_its_rounds_do_not_give_is_named(string report)
    {
        SaveWithReports(InventedRun.Document);
        File.AppendAllText(Path.Combine(Folder, report), "more");

        AssertRefused($"{report} is missing, or does not match");
    }

    private void AssertRefused(string because) => Assert.That(
        () => ResultFolder.Load(Folder).RequireWhole(),
        Throws.TypeOf<KitException>().With.Message.Contains(because).And.Property(nameof(KitException.Remedy)).Not.Empty);

    private void Save(RunDocument document)
    {
        var folder = RunFolder.Create(Folder, document);
        foreach (var round in InventedRun.Rounds)
            folder.Save(round);
    }

    private void SaveWithReports(RunDocument document)
    {
        Save(document);
        ResultFolder.Load(Folder).WriteReports();
    }

    private void SaveExperiments()
    {
        var folder = new FaultFolder(Folder);
        folder.Save(InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);
    }
}
