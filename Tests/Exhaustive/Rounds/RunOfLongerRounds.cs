using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>A run whose rounds are to take a second at least, with messages for a fraction of it.</summary>
[Parallelizable]
public sealed class RunOfLongerRounds
{
    private const int Messages = 50;

    [Test]
    public async Task Each_round_of_a_cell_drains_the_same_multiple_also_after_it_was_resumed()
    {
        var server = await NamedServer.GetAsync();
        using var parent = new TemporaryFolder();
        var folder = Path.Combine(parent.Path, "run");

        var result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off,shared", "--messages", $"{Messages}", "--at-least", "1s",
            "--rounds", "2", "--warmup", "50", "--seed-rows", "0", "--no-repeat", "--postgresql", server.ConnectionString, "--out", folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var run = RunFolder.Open(folder).Load();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Document.AtLeast!.Cells.Select(cell => cell.Cell), Is.EquivalentTo(run.Document.Cells));
            Assert.That(result.Output, Does.Match("scope-off/ado: [0-9,]+ messages in each round, after a trial of 0[.][0-9]+ s"));
            foreach (var round in run.Rounds)
            {
                Assert.That(round.Messages, Is.EqualTo(run.Document.AtLeast.Cells.Single(cell => cell.Cell == round.Cell).Messages), round.Name);
                Assert.That(round.Messages % Messages, Is.Zero);
                Assert.That(round.Messages, Is.GreaterThan(Messages));
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(round.Messages));
                Assert.That(round.Costs.Commits.Value, Is.InRange(0.5, 2.5), "Costs are divided by the messages that were drained.");
            }
        }

        await ForgetARoundAsync(folder, run);
        var resumed = await RunnerProcess.RunAsync("run", "--resume", folder, "--retry-failed", "--postgresql", server.ConnectionString);

        Assert.That(resumed.ExitCode, Is.EqualTo(ExitCode.Success), resumed.Output + resumed.Errors);
        var again = RunFolder.Open(folder).Load();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(resumed.Output, Does.Not.Contain("after a trial of"));
            Assert.That(again.Document.AtLeast!.Cells, Is.EqualTo(run.Document.AtLeast.Cells));
            Assert.That(again.Rounds[^1].Messages, Is.EqualTo(again.Document.AtLeast.Cells.Single(cell => cell.Cell == again.Rounds[^1].Cell).Messages));
        }
    }

    private static async Task ForgetARoundAsync(string folder, RecordedRun run)
    {
        var lines = Path.Combine(folder, RoundFiles.LinesFile);
        var stored = await File.ReadAllLinesAsync(lines);
        stored[^1] = stored[^1].Replace("\"verdict\":\"valid\",\"reasons\":[]}", "\"verdict\":\"error\",\"reasons\":[\"tried\"]}", StringComparison.Ordinal);
        await File.WriteAllTextAsync(lines, string.Concat(stored.Select(line => line + "\n")));
        Assert.That(run.Rounds[^1].Outcome.IsValid());
    }
}
