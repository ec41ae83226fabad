using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>One run of one round for each cell, which all tests of a fixture look at.</summary>
public abstract class MeasuredRun : OnAServerOfItsOwn
{
    private TemporaryFolder parent = null!;

    /// <summary>What is measured, in options of <c>run</c>.</summary>
    protected abstract IEnumerable<string> Cells { get; }

    /// <summary>How many cells that names.</summary>
    protected abstract int CellCount { get; }

    /// <summary>How many messages each round has.</summary>
    protected abstract int Messages { get; }

    protected private RecordedRun Run { get; private set; } = null!;

    protected private NamedServer MeasuredOn { get; private set; } = null!;

    [OneTimeSetUp]
    public async Task Measure()
    {
        MeasuredOn = await GetServerAsync();
        parent = new TemporaryFolder();
        var folder = PathOf("run");
        var result = await RunnerProcess.RunAsync(
        [
            "run", .. Cells, "--messages", $"{Messages}", "--warmup", "20", "--seed-rows", "1000", "--rounds", "1", "--no-repeat",
            "--postgresql", MeasuredOn.ConnectionString, "--out", folder,
        ]);
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Run = RunFolder.Open(folder).Load();
    }

    [OneTimeTearDown]
    public void RemoveRun() => parent?.Dispose();

    [Test]
    public void Every_message_is_accounted_for_once()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Run.Rounds, Has.Count.EqualTo(CellCount));
            foreach (var round in Run.Rounds)
            {
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(Messages), $"{round.Cell}");
            }
        }
    }

    /// <summary>In the folder that has the run in <c>run</c>, and is removed with it.</summary>
    protected string PathOf(params string[] names) => Path.Combine([parent.Path, .. names]);
}
