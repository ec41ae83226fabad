using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Accounts;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Tests.Results.Faults;

/// <summary>A mode with an outbox, and a message whose send nobody takes: the send must wait in the outbox.</summary>
public sealed class SendThatCannotBeDispatched
{
    private static readonly Workload Workload = new(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: false);

    private static readonly KnownLimit GivesUp = new(
        null, [TransactionMode.Outbox], Fault.FailedDispatch, Affected.Chosen, new HashSet<DeliveryClass> { Zombie }, "it gives up")
    {
        GivenUp = true,
    };

    [TestCase(1, false, ExpectedResult = null)]
    [TestCase(0, false, ExpectedResult = " with its rows, and its send is not in the outbox")]
    [TestCase(1, true, ExpectedResult = " with its rows and in the error queue (known)")]
    public string? Waits_in_the_outbox_and_its_message_is_done(int waiting, bool isDeadLetter)
    {
        var found = InventedHistory.Clean(3, Workload).DropSink(2);
        var account = Account.Of(isDeadLetter ? found.InErrorQueue(2) : found, Workload);

        var violation = WaitingSends.ViolationsOf(account.Verdicts, waiting, [GivesUp]).SingleOrDefault();

        Assert.That(violation?.MessageId, Is.EqualTo(violation is null ? null : (Guid?)InventedHistory.Message(2)));
        return violation is null ? null : $"{violation.Because.Split("zombie")[1].Split(';')[0]}{(violation.Known is null ? "" : " (known)")}";
    }
}
