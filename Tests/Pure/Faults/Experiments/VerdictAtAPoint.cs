using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage.Transports;
using Kit.Tests.Results.Accounts;

namespace Kit.Tests.Faults.Experiments;

/// <summary>The verdict where a subject came to rest, and where it did not.</summary>
public sealed class VerdictAtAPoint
{
    private const string Unsettled = "it did not settle";

    [TestCase(null, null, ExpectedResult = FaultVerdict.Kept)]
    [TestCase(null, DeliveryClass.Lost, ExpectedResult = FaultVerdict.Broken)]
    [TestCase(Unsettled, null, ExpectedResult = FaultVerdict.Void)]
    [TestCase(Unsettled, DeliveryClass.Lost, ExpectedResult = FaultVerdict.Void, Description = "It can still come.")]
    [TestCase(Unsettled, DeliveryClass.Duplicated, ExpectedResult = FaultVerdict.Broken)]
    [TestCase(Unsettled, DeliveryClass.DuplicatedOutgoing, ExpectedResult = FaultVerdict.Broken)]
    [TestCase(Unsettled, DeliveryClass.Unexpected, ExpectedResult = FaultVerdict.Broken)]
    public FaultVerdict Is_broken_by_what_stays(string? unsettled, DeliveryClass? notPromised) =>
        PointVerdict.Of(unsettled, notPromised is not null, notPromised is { } kind ? [kind] : []);

    /// <summary>The process worked on, and the message at the point did not come to rest.</summary>
    [TestCase(true)]
    [TestCase(false)]
    public async Task Is_broken_by_what_stays_of_a_message_before(bool isMet)
    {
        var cell = Cell.Find("bare.postgresql.shared.ado")!;
        var workload = new Workload(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: false);
        var doubled = Account.Of(InventedHistory.Empty.Sent(2).Handled(2, attempt: 1, workload).Handled(2, attempt: 2, workload), workload);
        var point = new CrashPoint(1, new RequestId("database", "COMMIT", "COMMIT", 1, 1), Before: null, HasAnswer: true, CanBeProved: true);
        await using var servers = new ServersInUse();

        var result = new EveryPoint(cell, servers).Judge(
            EveryPoint.ExperimentsAt(cell, [point], [PointWay.Cut]).Single(),
            new PointOutcome<CellAccount>(Unsettled)
            {
                IsMet = isMet,
                Unsettled = Unsettled,
                Chosen = InventedHistory.Message(1),
                Account = new(Account.Of(InventedHistory.Clean(1, workload), workload), [new([DeliveryClass.Once], doubled.Verdicts.Single())]),
            });

        Assert.That(result.Verdict, Is.EqualTo(FaultVerdict.Broken));
        Assert.That(result.Violations.Single().Because, Does.StartWith("a message before it is duplicated"));
    }
}
