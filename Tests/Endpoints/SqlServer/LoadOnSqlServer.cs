using Kit.Endpoints.Cells;
using Kit.Runner.Loads;
using Kit.Runner.Measuring;

namespace Kit.Tests.SqlServer;

/// <summary>A load runs on the servers that the kit starts, whatever the environment names.</summary>
public sealed class LoadOnSqlServer
{
    [Test]
    public void Is_refused_with_the_command_that_runs_there()
    {
        var cell = Cell.Find("bare.sqlserver.dtc-off.ado")!;
        var plan = new LoadPlan(
            [cell], [new OpenLoad(1)], TimeSpan.FromSeconds(1), LimitMilliseconds: null, Concurrency: 1, SeedRows: 0, WarmUp: 1, Senders: 1, "folder", "load");

        Assert.That(
            plan.SupportOf(cell).Because, Is.EqualTo("a load runs on the kit's own servers, and the kit starts no SQL Server: measure it with 'run'"));
    }
}
