using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Contract;

/// <summary>A commit that can never succeed is an attempt that failed, wherever the endpoint commits.</summary>
[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.All))]
public sealed class CommitIsAlwaysRefused(Cell cell) : ContractTest(cell)
{
    [Test]
    public async Task To_the_error_queue_after_the_last_attempt_and_nothing_is_left()
    {
        if (Cell.Kind.WidgetServer != WidgetServer.PostgreSql)
            Assert.Ignore("SQL Server has no deferred constraints.");
        if (Cell is { Kind.Framework: "rebus", DeadLettersNext: false, Mode.RowCommit: RowCommit.WithReceive })
            Assert.Ignore("Rebus dead-letters it again and again, until somebody stops it: MomentOfTheDeadLetter has the test.");
        await TestDatabases.RefuseCommitsAsync(Bench.Settings.Widgets);

        await Expect(Situation.CommitIsAlwaysRefused);
    }
}
