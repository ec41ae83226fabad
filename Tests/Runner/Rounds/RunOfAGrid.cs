using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>Several numbers of handlers times several pools. A pool that is too small for its handlers is left out.</summary>
[TestFixture("full-dtc")]
[TestFixture("full-dtc,shared")]
[Parallelizable]
[Exhaustive]
public sealed class RunOfAGrid(string modes) : MeasuredRun
{
    protected override IEnumerable<string> Cells =>
        ["--framework", "bare", "--transport", "postgresql", "--mode", modes, "--concurrency", "1,8", "--pool", "100,2"];

    // Without 8 handlers that share 2 connections.
    protected override int CellCount => 3 * Modes.Length;

    protected override int Messages => 200;

    private string[] Modes => modes.Split(',');

    [Test]
    public void Each_cell_has_its_own_number_of_handlers()
    {
        using (Assert.EnterMultipleScope())
        {
            foreach (var round in Run.Rounds)
                Assert.That(round.Concurrency, Is.EqualTo(round.Cell.On(Axis.Handlers.Name) is "8-handlers" ? 8 : 1), $"{round.Cell}");
            foreach (var probe in Run.Document.Probes)
                Assert.That(probe.MostTogether, Is.EqualTo(probe.Cell.On(Axis.Handlers.Name) is "8-handlers" ? 8 : 1), $"{probe.Cell}");
            Assert.That(Run.Document.Settings.Concurrency, Is.EqualTo(1));
            Assert.That(Run.Document.Implied![Axis.Handlers.Name], Is.EqualTo("1-handler"));
        }
    }

    [Test]
    public void A_pool_that_is_too_small_is_left_out_with_its_reason() => Assert.That(
        Run.Document.LeftOut.Select(left => $"{left.Cell}: {left.Because}"),
        Is.EqualTo(Modes.Select(mode =>
            $"bare/postgresql/{mode}/ado/8-handlers/2-connections: 8 handlers in {mode} need a pool of 8 connections or more, and it has 2 (--pool)")));

    [Test]
    public async Task The_report_has_a_table_for_each_axis() => Assert.That(
        await File.ReadAllTextAsync(PathOf("run", "tables.md")),
        Does.Contain("## By handlers").And.Contain("## By pool").And.Contain("\n| 8-handlers | "));

    [Test]
    public void A_resumed_run_finds_its_cells()
    {
        using (Assert.EnterMultipleScope())
        {
            foreach (var name in Run.Document.Cells)
                Assert.That(Provenance.NameOf(Cell.Find(name.FileName)!), Is.EqualTo(name));
        }
    }

    [Test]
    public async Task More_than_the_kits_own_server_accepts_is_refused_before_it_is_started()
    {
        var folder = PathOf("too-many");
        var result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off", "--processes", "8", "--concurrency", "100", "--out", folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(
            result.Errors,
            Does.StartWith(
                "error: None of the cells can run: needs up to 1,621 connections to PostgreSQL: " +
                "8 × (100 for handlers + 100 for receives + 2) + 5 for the runner, "));
    }
}
