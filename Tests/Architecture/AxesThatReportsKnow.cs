using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

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
}
