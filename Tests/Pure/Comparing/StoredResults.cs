using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Tests.CommandLine;
using Kit.Tests.Results.Comparing;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Comparing;

/// <summary>Folders as <c>run</c> and <c>faults</c> leave them, and what <c>compare</c> says of two.</summary>
public sealed class StoredResults
{
    private TemporaryFolder parent = null!;

    [SetUp]
    public void MakeFolder() => parent = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => parent.Dispose();

    [TestCase("", ExitCode.Success, Description = "Speed alone is reported, and gates nothing.")]
    [TestCase("--threshold 5", ExitCode.Regression)]
    [TestCase("--threshold 11", ExitCode.Success)]
    [TestCase("--threshold 2", ExitCode.Usage, Description = "Below the margin.")]
    [TestCase("--threshold 2 --margin 1", ExitCode.Regression)]
    [TestCase("--reference bare/postgresql/shared/ado", ExitCode.Success)]
    [TestCase("--reference bare/postgresql/outbox/ado", ExitCode.Failure)]
    [TestCase("--rounds 10", ExitCode.Usage)]
    [TestCase("--mode full-dtc", ExitCode.Usage)]
    public async Task The_exit_code_is_that_of_the_speeds(string options, int expected)
    {
        Save(Judged(InventedSides.Before), "before");
        Save(Judged(InventedSides.After), "after");

        var result = await CompareAsync(options.Split(' ', StringSplitOptions.RemoveEmptyEntries));

        Assert.That(result.ExitCode, Is.EqualTo(expected), result.Output + result.Errors);
        if (expected is ExitCode.Success or ExitCode.Regression)
            Assert.That(
                result.Output, Does.Contain("Differences between the runs").And.Contain("WARNING: ").And.Contain("slower").Or.Contain("faster"));
    }

    [TestCase("--threshold 100", "--threshold: expected a percentage from 0 to below 100, such as 5 or 2.5, found '100'.")]
    [TestCase("--threshold -1", "--threshold: expected a percentage from 0 to below 100, such as 5 or 2.5, found '-1'.")]
    [TestCase("--margin 1,5", "--margin: expected a percentage from 0 to below 100, such as 5 or 2.5, found '1,5'.")]
    [TestCase("--margin 1,5 --threshold five", "found 'five'")]
    [TestCase("--threshold 5 --rounds 4", "--threshold: expected 5 rounds or more (--rounds); with fewer, no cell is called slower.")]
    [TestCase("--threshold 5 --rounds x", "--rounds: expected a whole number from 1 to 2147483647, found 'x'.")]
    [TestCase("--mode full", "--mode: unknown name 'full'.")]
    [TestCase("--reference bare/postgresql/shared/ado", "--reference: applies only to two stored runs; builds are compared round by round.")]
    public async Task Wrong_options_of_builds_are_named_with_what_would_be_right(string options, string error)
    {
        var result = await RunnerInProcess.RunAsync(
            ["compare", "--build", AppContext.BaseDirectory, "--build", AppContext.BaseDirectory, .. options.Split(' ')]);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage), result.Output + result.Errors);
        Assert.That(result.Errors, Does.StartWith("error: ").And.Contain(error));
    }

    [Test]
    public async Task An_invalid_round_is_no_success()
    {
        var after = Judged(InventedSides.After);
        var failed = after.Rounds[0] with { Outcome = RoundOutcome.Invalid(["messages lost: 1"]) };
        Save(Judged(InventedSides.Before), "before");
        Save(new RecordedRun(after.Document, [failed, .. after.Rounds.Skip(1)]), "after");

        var (without, with) = (await CompareAsync(), await CompareAsync("--threshold", "5"));

        Assert.That((without.ExitCode, with.ExitCode), Is.EqualTo((ExitCode.Failure, ExitCode.Regression)), without.Output + with.Output);
        Assert.That(
            without.Output, Does.Contain("- after: bare/postgresql/full-dtc/ado, round 1: ").And.Contain("INVALID (messages lost: 1)"));
    }

    [TestCase(FaultVerdict.Kept, ExitCode.Success)]
    [TestCase(FaultVerdict.Broken, ExitCode.Regression)]
    [TestCase(FaultVerdict.Void, ExitCode.Failure)]
    public async Task The_exit_code_is_that_of_the_promises(FaultVerdict verdict, int expected)
    {
        var kept = InventedExperiments.Results.First(result => result.Verdict is FaultVerdict.Kept);
        Save([kept], "before");
        Violation[] violations = verdict is FaultVerdict.Broken ? [new Violation(Guid.Empty, "message 1 is lost", [])] : [];
        Save([kept with { Verdict = verdict, Violations = violations }], "after");
        var markdown = parent.Below("report.md");

        var result = await CompareAsync("--markdown", markdown);

        Assert.That(result.ExitCode, Is.EqualTo(expected), result.Output + result.Errors);
        Assert.That(await File.ReadAllTextAsync(markdown), Does.Contain("Promises compared: 1."));
    }

    [Test]
    public async Task A_run_and_experiments_are_not_compared()
    {
        Save(InventedSides.Before, "before");
        Save(InventedExperiments.Results, "after");

        var result = await CompareAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.StartWith(
            $"error: expected two runs or two folders of experiments, found a run in '{parent.Below("before")}' "
            + $"and experiments in '{parent.Below("after")}'."));
    }

    [Test]
    public async Task Folders_with_both_are_compared_in_both()
    {
        foreach (var (run, name) in new[] { (InventedSides.Before, "before"), (InventedSides.After, "after") })
        {
            Save(Judged(run), name);
            Save(InventedExperiments.Results, name);
        }

        var result = await CompareAsync();

        Assert.That(result.Output, Does.Contain("Cells compared: 1.").And.Contain("Promises compared: 11. Changed: 0."));
    }

    /// <summary>Without the cell that has too few rounds to be judged.</summary>
    private static RecordedRun Judged(RecordedRun run) => new(
        run.Document with { Cells = [.. run.Document.Cells.Where(IsJudged)] }, [.. run.Rounds.Where(round => IsJudged(round.Cell))]);

    private static bool IsJudged(CellName cell) => cell.Mode != "transactions-off";

    private void Save(RecordedRun run, string name)
    {
        var folder = RunFolder.Create(parent.Below(name), run.Document);
        foreach (var round in run.Rounds)
            folder.Save(round);
    }

    private void Save(IEnumerable<FaultResult> results, string name)
    {
        var folder = new FaultFolder(parent.Below(name));
        folder.Save(InventedExperiments.Document);
        foreach (var result in results)
            folder.Save(result);
    }

    private Task<RunnerResult> CompareAsync(params string[] options) =>
        RunnerInProcess.RunAsync(["compare", parent.Below("before"), parent.Below("after"), .. options]);
}
