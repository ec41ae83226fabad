using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;

namespace Kit.Tests.Exhaustive.Faults;

/// <summary>
/// A handler that publishes to three queues is killed before its commit and before its acknowledgement: what a mode promises for a send, it promises for each
/// delivery. The bare endpoint on PostgreSQL has every way to commit an event, the one on RabbitMQ acknowledges; frameworks are left to the command.
/// </summary>
[Parallelizable]
public sealed class FaultsOfAPublisher
{
    private static readonly IReadOnlyList<string> Names =
    [
        "bare.postgresql.full-dtc.ado", "bare.postgresql.dtc-off.ado", "bare.postgresql.shared.ado", "bare.postgresql.outbox.ado",
        "bare.rabbitmq.dtc-off.ado",
    ];

    private static FaultPlan PlanIn(string folder, IEnumerable<string> cells, int subscribers) =>
        new([.. cells.Select(name => Cell.Find(name)!)], [Fault.KillBeforeCommit, Fault.KillBeforeAcknowledgement], null, null, folder, "tests")
        {
            Shape = HandlerShape.OfExperiments with { Sends = 0, Subscribers = subscribers },
        };

    [Test]
    public async Task Promises_hold_in_the_queue_of_each_subscriber()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        RabbitMqServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        var run = new FaultRun(PlanIn(folder.Path, Names, subscribers: 3), (_, _, _) => { }, _ => { });
        var record = await run.RunAsync(CancellationToken.None);

        var results = record.Results;
        var doubled = results.Single(result =>
            result.Cell.ToString() == "bare/postgresql/dtc-off/ado" && result.Fault == Fault.KillBeforeAcknowledgement.Name);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(results, Has.Count.EqualTo(2 * Names.Count));
            foreach (var result in results)
                Assert.That(result.IsGood, Is.True, $"{result.Name}: {result.Verdict} {result.Because}");
            Assert.That(results.Count(result => result.Verdict is FaultVerdict.Kept), Is.EqualTo(8), "full-dtc and shared acknowledge with their commit");
            Assert.That(doubled.Observed.Select(seen => seen.Class), Is.EqualTo([DeliveryClass.Duplicated]), "the rows, and not the deliveries");
            Assert.That(doubled.Evidence.Count(line => line.StartsWith("outgoing message ", StringComparison.Ordinal)), Is.EqualTo(3));
            Assert.That(record.Document.Subscribers, Is.EqualTo(3));
            Assert.That(
                File.ReadAllText(Path.Combine(folder.Path, "guarantees.md")),
                Does.Contain("Handler: writes two rows and publishes one event, to which 3 queues have subscribed"));
        }

        Assert.That(
            async () => await new FaultRun(PlanIn(folder.Path, Names.Take(1), subscribers: 5), (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains("to which 3 queues have subscribed, and that of this command")
                .And.Message.Contains("to which 5 queues"));
    }
}
