using Kit.Endpoints.Cells;

namespace Kit.Tests.Modes;

/// <summary>The values of a cell, where its endpoint is told them and where it is probed.</summary>
public sealed class SettingsOfACell
{
    private static readonly IReadOnlyList<Axis> OfRoundsAlone =
        [.. Axis.All.Where(axis => axis.IsOfRounds && axis != Axis.Handlers && axis != Axis.Pool)];

    [Test]
    public void Reach_the_endpoint()
    {
        var told = typeof(EndpointSettings).GetProperties()
            .Join(typeof(Cell).GetProperties(), setting => setting.Name, value => value.Name, (setting, value) => (Setting: setting, Value: value)).ToList();

        var untold =
            from cell in Cell.All
            let settings = cell.EndpointOn("work", "", "", concurrency: 2)
            from one in told
            where !Equals(one.Setting.GetValue(settings), one.Value.GetValue(cell))
            select $"{one.Value.Name} of {cell}";
        using (Assert.EnterMultipleScope())
        {
            Assert.That(told.Select(one => one.Value.Name), Does.Contain(nameof(Cell.PollsOften)).And.Contain(nameof(Cell.DeadLettersNext)));
            Assert.That(untold, Is.Empty);
        }
    }

    [Test]
    public void Are_probed_except_those_of_rounds()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                from cell in Cell.All
                from axis in Axis.All.Except(OfRoundsAlone)
                where axis.ValueOf(cell.Plain) != axis.ValueOf(cell)
                select $"{axis.Name} of {cell}",
                Is.Empty);
            Assert.That(
                from cell in Cell.All
                from axis in OfRoundsAlone
                where !axis.HasImplied(cell.Plain)
                select $"{axis.Name} of {cell}",
                Is.Empty);
        }
    }
}
