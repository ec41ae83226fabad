using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Tests.Results.Accounts;

namespace Kit.Tests.Faults.Experiments;

/// <summary>The sends of an attempt all have one id and go to one queue: how many have arrived is all that an account can know.</summary>
public sealed class HandlerThatSendsTwice
{
    private static readonly HandlerShape Shape = new(Inserts: 1, Sends: 2, ThrowsAtFirst: false);

    private static readonly Workload RowAndSends = new(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: false) { Deliveries = Shape.Arrivals };

    [TestCase(2, true, ExpectedResult = "once")]
    [TestCase(3, true, ExpectedResult = "duplicated-outgoing")]
    [TestCase(4, true, ExpectedResult = "duplicated-outgoing")]
    [TestCase(1, true, ExpectedResult = "zombie")]
    [TestCase(0, true, ExpectedResult = "zombie")]
    [TestCase(1, false, ExpectedResult = "ghost", Description = "It was given up, and one of its sends has escaped.")]
    [TestCase(0, false, ExpectedResult = "clean-error")]
    public string Leaves_a_part_of_its_sends_seen(int arrived, bool isDone)
    {
        var attempted = InventedHistory.Empty.Sent(1).Attempted(1, 1, isDone ? AttemptPoint.Returned : AttemptPoint.AfterSend);
        var found = (isDone ? attempted.Row(1, 1) : attempted.InErrorQueue(1)) with
        {
            Sink = [.. Shape.SendsOf(Enumerable.Repeat(InventedHistory.Message(1), arrived))],
        };

        return Words.Of(Account.Of(found, RowAndSends).Verdicts.Single().Class);
    }
}
