using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Comparing;

/// <summary>Two folders as <c>run</c> and <c>faults</c> leave them.</summary>
public sealed class TwoFolders
{
    private TemporaryFolder parent = null!;

    private string Before => parent.Below("before");

    private string After => parent.Below("after");

    [SetUp]
    public void MakeFolder() => parent = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => parent.Dispose();

    [Test]
    public void Of_runs_are_compared_in_their_speeds()
    {
        Save(InventedSides.Before, Before);
        Save(InventedSides.After, After);

        Assert.That(WhyNot(), Is.Null);
        Assert.That(Compared(), Does.Contain("Cells compared: 2.").And.Not.Contain("Promises compared"));
    }

    [Test]
    public void Of_experiments_are_compared_in_their_promises()
    {
        SaveExperiments(Before);
        SaveExperiments(After);

        Assert.That(WhyNot(), Is.Null);
        Assert.That(Compared(), Does.Contain("Promises compared: 11. Changed: 0.").And.Not.Contain("Cells compared"));
    }

    [Test]
    public void Of_which_one_has_more_are_compared_in_what_both_have()
    {
        Save(InventedSides.Before, Before);
        SaveExperiments(Before);
        SaveExperiments(After);

        Assert.That(WhyNot(), Is.Null);
        Assert.That(Compared(), Does.Contain("Promises compared: 11.").And.Not.Contain("Cells compared"));
    }

    [Test]
    public void That_hold_different_things_are_not_compared()
    {
        Save(InventedSides.Before, Before);
        SaveExperiments(After);

        Assert.That(
            WhyNot(),
            Is.EqualTo($"expected two runs or two folders of experiments, found a run in '{Before}' and experiments in '{After}'"));
    }

    [Test]
    public void Of_which_one_holds_nothing_are_not_compared()
    {
        Save(InventedSides.Before, Before);
        SaveExperiments(Before);

        Assert.That(
            WhyNot(), Is.EqualTo($"expected two runs or two folders of experiments, found both in '{Before}' and neither in '{After}'"));
    }

    [Test]
    public void Are_compared_by_the_reference_that_is_named()
    {
        Save(InventedSides.Before, Before);
        Save(InventedSides.After, After);

        Assert.That(Compared($"{InventedRun.Cell("shared")}"), Does.Contain("| full-dtc | shared |").Or.Contain("/full-dtc/ado | shared |"));
    }

    [Test]
    public void Of_which_one_lacks_the_reference_are_told_what_both_have()
    {
        Save(InventedSides.Before, Before);
        Save(
            new RecordedRun(
                InventedSides.After.Document with { Cells = [InventedRun.Cell("shared")] },
                [.. InventedSides.After.Rounds.Where(round => round.Cell.Mode == "shared")]),
            After);

        Assert.That(
            () => Compared($"{InventedRun.Cell("full-dtc")}"),
            Throws.TypeOf<KitException>()
                .With.Message.EqualTo($"--reference: expected a cell that both runs have, found '{InventedRun.Cell("full-dtc")}'.")
                .And.Property(nameof(KitException.Remedy)).EqualTo($"Both have: {InventedRun.Cell("shared")}."));
    }

    private string? WhyNot() => StoredSides.WhyNot([Before, After]);

    private string Compared(string? reference = null)
    {
        using var output = new StringWriter { NewLine = "\n" };
        new StoredSides(Before, After).Compare(reference, InventedSides.NoGate, "compare before after").WriteMarkdown(output);
        return output.ToString();
    }

    private static void Save(RecordedRun run, string path)
    {
        var folder = RunFolder.Create(path, run.Document with { Ending = RunEnding.Stopped("it is invented") });
        foreach (var round in run.Rounds)
            folder.Save(round);
    }

    private static void SaveExperiments(string path)
    {
        var folder = new FaultFolder(path);
        folder.Save(InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);
    }
}
