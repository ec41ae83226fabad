using Kit.Runner.Results.Accounts;

namespace Kit.Tests.Results.Accounts;

/// <summary>What is told of a message: each place where it left a trace, and what is worth knowing as well as its class.</summary>
public sealed class EvidenceOfAMessage
{
    private const string Number = "-0000-0000-0000-000000000000";

    private static readonly Workload Workload = new(RowsPerAttempt: 2, Sends: true, ReceiveIsBranch: true);

    [Test]
    public void Names_every_trace_in_one_order_whatever_order_it_was_found_in()
    {
        var history = InventedHistory.Empty.Sent(1, SendResult.Unknown).Sent(1)
            .Attempted(1, 2, AttemptPoint.AfterFirstInsert)
            .Attempted(1, 1, AttemptPoint.Started)
            .Row(1, 2).Row(1, 1)
            .Arrived(1, 2).Arrived(1, 1)
            .InErrorQueue(1).InErrorQueue(1)
            .Queued(1).Queued(1, receivable: false, claimedBy: 102)
            .LeftPrepared(102);

        foreach (var seed in Enumerable.Range(0, 20))
            Assert.That(EvidenceOf(history.Shuffled(seed)), Is.EqualTo(
            [
                "sent: acked, unknown",
                $"attempt 00000001-0001-0001{Number[10..]}: started",
                $"attempt 00000001-0001-0002{Number[10..]}: started, before-insert, after-first-insert; process 4711, transaction 102",
                $"row 1 of attempt 00000001-0001-0002{Number[10..]}",
                $"row 2 of attempt 00000001-0001-0001{Number[10..]}",
                $"outgoing message 00000001-0002-0001{Number[10..]}",
                $"outgoing message 00000001-0002-0002{Number[10..]}",
                "in the error queue: 2",
                "in the queue, not receivable, claimed by transaction 102",
                "in the queue, receivable",
                "prepared: kit/7/16384/99, transaction 102",
            ]));
    }

    [Test]
    public void Says_nothing_of_places_without_a_trace() =>
        Assert.That(EvidenceOf(InventedHistory.Empty.Sent(1)), Is.EqualTo(["sent: acked"]));

    [Test]
    public void Says_what_is_wrong_with_an_outgoing_message() => Assert.That(
        EvidenceOf(InventedHistory.Empty.Sent(1).Arrived(1, 1, "in b, expected in a")),
        Is.EqualTo(["sent: acked", $"outgoing message {InventedHistory.Outgoing(1, 1)}: in b, expected in a"]));

    [Test]
    public void Says_that_nobody_sent_it() =>
        Assert.That(EvidenceOf(InventedHistory.Empty.Queued(1)), Is.EqualTo(["never sent", "in the queue, receivable"]));

    [Test]
    public void Names_sessions_in_order_and_without_a_transaction_where_none_was_asked()
    {
        var history = InventedHistory.Empty.Sent(1) with
        {
            Attempts =
            [
                new AttemptLine(
                    InventedHistory.Message(1), InventedHistory.Attempt(1, 1), AttemptPoint.Returned,
                    [new Backend(9), new Backend(8, 3), new Backend(8, 2)]),
                new AttemptLine(InventedHistory.Message(1), InventedHistory.Attempt(1, 1), AttemptPoint.Faulted, [new Backend(9)]),
            ],
        };

        Assert.That(EvidenceOf(history)[1], Does.EndWith(": returned, faulted; process 8, transaction 2; process 8, transaction 3; process 9"));
    }

    [TestCase(VerdictFlags.None)]
    [TestCase(VerdictFlags.InErrorQueue)]
    [TestCase(VerdictFlags.HalfDone)]
    [TestCase(VerdictFlags.Prepared)]
    [TestCase(VerdictFlags.Receivable)]
    [TestCase(VerdictFlags.Unreceivable)]
    [TestCase(VerdictFlags.SameOutgoingId)]
    [TestCase(VerdictFlags.SendUnknown)]
    public void Flags_what_is_worth_knowing(VerdictFlags flag)
    {
        var clean = InventedHistory.Clean(1, Workload);
        var history = flag switch
        {
            VerdictFlags.InErrorQueue => clean.InErrorQueue(1),
            VerdictFlags.HalfDone => clean.DropRow(1),
            VerdictFlags.Prepared => clean.LeftPrepared(InventedHistory.Transaction(1, 1)),
            VerdictFlags.Receivable => clean.Queued(1),
            VerdictFlags.Unreceivable => clean.Queued(1, receivable: false),
            VerdictFlags.SameOutgoingId => clean.Arrived(1, 1),
            VerdictFlags.SendUnknown => InventedHistory.Empty.Sent(1, SendResult.Unknown).Handled(1, 1, Workload),
            _ => clean.Attempted(1, 2, AttemptPoint.Returned),
        };

        Assert.That(Account.Of(history, Workload).Verdicts.Single().Flags, Is.EqualTo(flag));
    }

    [Test]
    public void Counts_the_rows_beyond_those_of_one_attempt()
    {
        var account = Account.Of(InventedHistory.Clean(3, Workload).Row(2, 1).Row(3, 1).Row(3, 1).DropRow(1), Workload);

        Assert.That(account.Verdicts.Select(verdict => verdict.ExcessRows), Is.EqualTo([0, 1, 2]));
        Assert.That(account.ExcessRows, Is.EqualTo(3));
    }

    private static IReadOnlyList<string> EvidenceOf(History history) => Account.Of(history, Workload).Verdicts.Single().Evidence;
}
