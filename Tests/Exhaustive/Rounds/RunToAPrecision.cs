using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>A run whose number of rounds depends on how narrow its ratios are.</summary>
[Parallelizable]
public sealed class RunToAPrecision
{
    [Test]
    public async Task It_ends_when_its_ratios_are_narrow()
    {
        const int Most = 30;
        var run = await MeasureAsync("99%", Most);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Document.Settings.Rounds, Is.AtLeast(Precision.LeastRounds).And.LessThan(Most));
            Assert.That(run.WidestInterval, Is.AtMost(0.99));
            Assert.That(run.Document.Precision!.Text(run.Document.Settings.Rounds), Does.Contain("; reached after "));
        }
    }

    [Test]
    public async Task It_ends_after_the_most_rounds()
    {
        var run = await MeasureAsync("0", Precision.LeastRounds + 1);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Document.Settings.Rounds, Is.EqualTo(Precision.LeastRounds + 1));
            Assert.That(run.Document.Precision!.Text(run.Document.Settings.Rounds), Does.Contain("; not reached in 9 rounds: "));
        }
    }

    private static async Task<RecordedRun> MeasureAsync(string goal, int most)
    {
        var server = await NamedServer.GetAsync();
        using var parent = new TemporaryFolder();

        var result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off,shared", "--messages", "100", "--precision", goal,
            "--max-rounds", $"{most}", "--warmup", "0", "--seed-rows", "0", "--no-repeat", "--postgresql", server.ConnectionString,
            "--out", parent.Path);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var folder = RunFolder.Open(parent.Path);
        var run = folder.Load();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Rounds, Has.Count.EqualTo(2 * run.Document.Settings.Rounds));
            Assert.That(run.Document.Precision!.Widest, Is.EqualTo(run.WidestInterval));
            Assert.That(await File.ReadAllTextAsync(folder.ReportPath), Does.Contain("The number of rounds depended on the data"));
        }

        return run;
    }
}
