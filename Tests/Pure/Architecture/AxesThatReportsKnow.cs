using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Architecture;

public sealed class AxesThatReportsKnow
{
    [Test]
    public void Are_the_first_of_the_matrix() =>
        Assert.That(Cell.Axes.Select(axis => axis.Name).Take(CellName.Required.Count), Is.EqualTo(CellName.Required));

    [Test]
    public void The_scenario_that_is_next_to_the_experiments_handler_is_one_of_the_matrix()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(SpeedSource.ScenarioAxis, Is.EqualTo(Cell.ScenarioAxis));
            Assert.That(Scenario.InsertAndSend.Name, Is.EqualTo(SpeedSource.LikeExperiments));
        }
    }

    [Test]
    public void The_axis_whose_redo_bound_tables_show_is_one_of_the_matrix() =>
        Assert.That(Cell.Axes.Select(axis => axis.Name), Does.Contain(RecordedRun.BatchAxis).And.Contain(Cell.BatchAxis));

    [Test]
    public void The_axis_of_the_flushes_is_one_of_the_matrix() => Assert.That(RecordedRun.FlushAxis, Is.EqualTo(Cell.FlushAxis));

    [Test]
    public void The_axes_of_sizes_pools_and_processes_are_those_of_the_matrix() => Assert.That(
        new[] { RecordedRun.SizeAxis, RecordedRun.PoolAxis, RecordedRun.ProcessesAxis },
        Is.EqualTo([Cell.SizeAxis, Cell.PoolAxis, Cell.ProcessesAxis]));

    [Test]
    public void The_axes_of_grids_are_of_the_matrix() => Assert.That(Cell.Axes.Select(axis => axis.Name), Is.SupersetOf(GridTable.Axes));

    [Test]
    public void The_axis_of_the_round_trips_is_one_of_the_matrix() => Assert.That(RoundTripSlope.Axis, Is.EqualTo(Cell.RoundTripAxis));

    [Test]
    public void The_access_library_that_pages_show_is_the_baseline()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Cell.Axes.Select(axis => axis.Name), Does.Contain(ShownCells.AccessAxis));
            Assert.That(AccessLibrary.Baseline, Is.EqualTo(ShownCells.Access));
        }
    }
}
