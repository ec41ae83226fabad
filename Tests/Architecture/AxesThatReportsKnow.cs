using Kit.Endpoints.Cells;
using Kit.Runner.Results;

namespace Kit.Tests.Architecture;

public sealed class AxesThatReportsKnow
{
    [Test]
    public void Are_the_first_of_the_matrix() =>
        Assert.That(Cell.Axes.Select(axis => axis.Name).Take(CellName.Required.Count), Is.EqualTo(CellName.Required));
}
