using Kit.Handlers;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Architecture;

/// <summary>Reports do not know handlers. They name two values of the matrix themselves.</summary>
public sealed class ValuesThatReportsKnow
{
    [Test]
    public void The_scenario_that_is_next_to_the_experiments_handler_is_one_of_the_matrix() =>
        Assert.That(Scenario.InsertAndSend.Name, Is.EqualTo(SpeedSource.LikeExperiments));

    [Test]
    public void The_access_library_that_pages_show_is_the_baseline() => Assert.That(AccessLibrary.Baseline, Is.EqualTo(ShownCells.Access));
}
