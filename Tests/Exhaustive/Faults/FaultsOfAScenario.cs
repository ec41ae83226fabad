using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Exhaustive.Faults;

/// <summary>
/// The unchanged handlers of scenarios are killed before their commit and before their acknowledgement. These are a few cells of the bare endpoints; the others
/// are left to the command.
/// </summary>
[Parallelizable]
public sealed class FaultsOfAScenario
{
    private static readonly IReadOnlyList<string> Names =
    [
        "bare.postgresql.transactions-off.ado.pass", "bare.postgresql.dtc-off.ado.route", "bare.postgresql.shared.ado.publish-5",
        "bare.rabbitmq.dtc-off.ado.pass", "bare.rabbitmq.dtc-off.ado.route",
    ];

    [Test]
    public async Task Promises_hold_for_its_own_handler()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        RabbitMqServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        var plan = new FaultPlan(
            [.. Names.Select(name => Cell.Find(name)!)], [Fault.KillBeforeCommit, Fault.KillBeforeAcknowledgement], null, null, folder.Path, "tests");
        var results = (await new FaultRun(plan, (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None)).Results;

        using (Assert.EnterMultipleScope())
        {
            foreach (var result in results)
                Assert.That(result.IsGood, Is.True, $"{result.Name}: {result.Verdict} {result.Because} {string.Join('\n', result.Evidence)}");
            Assert.That(
                results.Where(result => result.Verdict is FaultVerdict.NoWindow).Select(result => $"{result.Cell}: {result.Because}"),
                Is.EquivalentTo(
                [
                    "bare/postgresql/shared/ado/publish-5: sends and receive commit as one unit",
                    "bare/postgresql/dtc-off/ado/route: sends and receive commit as one unit, and there is no row",
                ]));
            Assert.That(ClassesOf("bare/postgresql/transactions-off/ado/pass", Fault.KillBeforeCommit), Is.EqualTo([DeliveryClass.Lost]));
            foreach (var scenario in new[] { "pass", "route" })
            {
                Assert.That(
                    ClassesOf($"bare/rabbitmq/dtc-off/ado/{scenario}", Fault.KillBeforeAcknowledgement), Is.EqualTo([DeliveryClass.DuplicatedOutgoing]));
            }

            Assert.That(
                File.ReadAllText(Path.Combine(folder.Path, "guarantees.md")),
                Does.Contain("## bare/rabbitmq/ado/route: promise and observation").And.Contain("The handler is that of the cell's scenario."));
        }

        var repeated = 0;
        await new FaultRun(plan, (_, _, _) => repeated++, _ => { }).RunAsync(CancellationToken.None);
        Assert.That(repeated, Is.Zero, "the folder has them all, by the names of their scenarios");

        IEnumerable<DeliveryClass> ClassesOf(string cell, Fault fault) =>
            results.Single(result => result.Cell.ToString() == cell && result.Fault == fault.Name).Observed.Select(seen => seen.Class);
    }
}
