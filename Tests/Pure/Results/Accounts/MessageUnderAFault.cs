using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Tests.Results.Accounts;

/// <summary>What faults leave of one message, by mode, and the class that it is in: invented, before real faults are judged by it.</summary>
public sealed class MessageUnderAFault
{
    private const int It = 1;

    private static readonly Workload OneRowAndASend = new(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: true);
    private static readonly Workload OneRow = OneRowAndASend with { Sends = false };
    private static readonly Workload TwoRows = new(RowsPerAttempt: 2, Sends: false, ReceiveIsBranch: false);
    private static readonly Workload ASendAlone = new(RowsPerAttempt: 0, Sends: true, ReceiveIsBranch: false);
    private static readonly Workload ReceiveApart = OneRowAndASend with { ReceiveIsBranch = false };
    private static readonly History Acked = InventedHistory.Empty.Sent(It);
    private static readonly History Unknown = InventedHistory.Empty.Sent(It, SendResult.Unknown);
    private static readonly History FailedToSend = InventedHistory.Empty.Sent(It, SendResult.Failed);
    private static readonly History Forwarded = Acked.Handled(It, 1, ASendAlone);
    private static readonly History Once = Acked.Handled(It, 1, OneRowAndASend);
    private static readonly History Prepared = Acked.Attempted(It, 1, AttemptPoint.AfterFirstInsert).LeftPrepared(InventedHistory.Transaction(It, 1));

    private static History Inserted(int attempts) => Enumerable.Range(1, attempts).Aggregate(
        Acked, (history, attempt) => history.Attempted(It, attempt, AttemptPoint.AfterFirstInsert).Row(It, attempt));

    private static IEnumerable<TestCaseData> Cases()
    {
        yield return Case("Handled once", Once, DeliveryClass.Once);
        yield return Case("Handled once by a handler that sends nothing", Acked.Handled(It, 1, OneRow), OneRow, DeliveryClass.Once);
        yield return Case(
            "Rolled back, then handled", Acked.Attempted(It, 1, AttemptPoint.AfterFirstInsert).Handled(It, 2, OneRowAndASend),
            DeliveryClass.Once);
        yield return Case("Sent with an unknown answer, and handled once", Unknown.Handled(It, 1, OneRowAndASend), Recovered);

        yield return Case("transactions-off, killed before the insert", Acked.Attempted(It, 1, AttemptPoint.BeforeInsert), Lost);
        yield return Case("transactions-off, killed between receive and handler", Acked, Lost);
        yield return Case("Sent with an unknown answer, attempted, gone", Unknown.Attempted(It, 1, AttemptPoint.Started), Lost);

        yield return Case("scope-off, thrown after the insert", Inserted(1).Handled(It, 2, OneRowAndASend), Duplicated);
        yield return Case("dtc-off, killed after the scope, before the dispatch", Inserted(1).Handled(It, 2, OneRowAndASend), Duplicated);
        yield return Case("Receive-only on RabbitMQ, killed after the dispatch", Once.Handled(It, 2, OneRowAndASend), Duplicated, DuplicatedOutgoing);
        yield return Case("scope-off, always throws after the insert", Inserted(3).InErrorQueue(It), Duplicated, Zombie);
        yield return Case("scope-off, always throws, and sends nothing", Inserted(3).InErrorQueue(It), OneRow, Duplicated, Zombie);
        yield return Case("A crash loop of scope-off", Inserted(2).Queued(It), Duplicated, Stuck);
        yield return Case(
            "A crash loop of dtc-off", Acked.Attempted(It, 1, AttemptPoint.BeforeInsert).Attempted(It, 2, AttemptPoint.BeforeInsert).Queued(It),
            Stuck);
        yield return Case("Two rows of one attempt that should insert one", Once.Row(It, 1), Duplicated);

        yield return Case("Outbox, killed after the dispatch: the same id twice", Once.Arrived(It, 1), DuplicatedOutgoing);
        yield return Case("Outbox, and a second id", Once.Arrived(It, 2), DuplicatedOutgoing);
        yield return Case("Given up twice", Acked.Attempted(It, 1, AttemptPoint.Started).InErrorQueue(It).InErrorQueue(It), DuplicatedOutgoing);

        yield return Case("A swallowed error of the database", Acked.Attempted(It, 1, AttemptPoint.Returned).Arrived(It, 1), Ghost);
        yield return Case("An immediate send, then thrown for good", Acked.Attempted(It, 1, AttemptPoint.AfterSend).Arrived(It, 1).InErrorQueue(It), Ghost);
        yield return Case(
            "An immediate send by each of two attempts",
            Acked.Attempted(It, 1, AttemptPoint.AfterSend).Arrived(It, 1).Attempted(It, 2, AttemptPoint.AfterSend).Arrived(It, 2),
            Ghost, DuplicatedOutgoing);

        yield return Case("transactions-off, killed between insert and send", Inserted(1), Zombie);
        yield return Case("transactions-off, thrown after the insert", Inserted(1).InErrorQueue(It), Zombie);
        yield return Case("transactions-off, thrown after the insert, nothing to send", Inserted(1).InErrorQueue(It), OneRow, Zombie);
        yield return Case("transactions-off, thrown after the send", Once.InErrorQueue(It), Zombie);
        yield return Case("A dispatch that fails for good", Inserted(3).InErrorQueue(It), Duplicated, Zombie);

        yield return Case("Poison under full-dtc", Acked.Attempted(It, 1, AttemptPoint.AfterFirstInsert).InErrorQueue(It), CleanError);

        yield return Case("npgsql-scope, killed before the decision", Prepared.Queued(It, receivable: false), InDoubt);
        yield return Case("npgsql-scope, both branches prepared", Prepared.LeftPrepared(500).Queued(It, receivable: false, claimedBy: 500), InDoubt);
        yield return Case("A branch alone is prepared, the receive was never part of it", Prepared, ReceiveApart, InDoubt);
        yield return Case("Given up with a branch still prepared", Prepared.InErrorQueue(It), InDoubt);

        yield return Case("full-dtc before recovery: decided, the row not committed", Prepared.Arrived(It, 1), Torn);
        yield return Case("full-dtc before recovery, nothing sent", Prepared, OneRow, Torn);
        yield return Case("A second phase that failed for the receive", Inserted(1).Queued(It, receivable: false, claimedBy: 500).LeftPrepared(500), Torn);
        yield return Case("Done twice, once of it in doubt", Once.Row(It, 1).LeftPrepared(InventedHistory.Transaction(It, 1)), Torn, Duplicated);
        yield return Case("Half done by scope-off, killed between its two rows", Acked.Attempted(It, 1, AttemptPoint.BeforeInsert).Row(It, 1), TwoRows, Torn);
        yield return Case(
            "Half done, then done whole", Acked.Attempted(It, 1, AttemptPoint.BeforeInsert).Row(It, 1).Handled(It, 2, TwoRows), TwoRows, Torn, Duplicated);
        yield return Case(
            "Half done twice makes no whole",
            Acked.Attempted(It, 1, AttemptPoint.BeforeInsert).Row(It, 1).Attempted(It, 2, AttemptPoint.BeforeInsert).Row(It, 2),
            TwoRows, Torn);
        yield return Case("Half done and given up", Acked.Attempted(It, 1, AttemptPoint.BeforeInsert).Row(It, 1).InErrorQueue(It), TwoRows, Torn, Zombie);

        yield return Case("Counted and never received", Acked.Queued(It, receivable: false), Stuck);
        yield return Case("Never picked up", Acked.Queued(It), Stuck);
        yield return Case("Handled, its receive not committed", Once.Queued(It), Stuck);
        yield return Case("In its queue and in the error queue", Acked.Attempted(It, 1, AttemptPoint.Started).Queued(It).InErrorQueue(It), Stuck);

        yield return Case("Refused by the transport, and handled", FailedToSend.Handled(It, 1, OneRowAndASend), Unexpected);
        yield return Case("A stranger", InventedHistory.Empty.Handled(It, 1, OneRowAndASend), Unexpected);
        yield return Case("A stranger's attempt", InventedHistory.Empty.Attempted(It, 1, AttemptPoint.Started), Unexpected, Lost);
        yield return Case("A row that nobody attempted", Acked.Row(It, 1), Unexpected, Zombie);
        yield return Case("A row of an attempt that is not in the journal", Acked.Attempted(It, 1, AttemptPoint.Started).Row(It, 2).Arrived(It, 1), Unexpected);
        yield return Case("An outgoing message that nobody attempted", Acked.Arrived(It, 1), Unexpected, Ghost);
        yield return Case("Given up by its endpoint, before the handler", Acked.InErrorQueue(It), CleanError);
        yield return Case("A send of a handler that sends nothing", Once, OneRow, Unexpected);
        yield return Case("Sent twice by its producer", Once.Sent(It), Unexpected);
        yield return Case("A send to another queue, or with another body", Acked.Handled(It, 1, OneRow).Arrived(It, 1, "in another queue"), Unexpected);

        yield return Case("Forwarded once", Forwarded, ASendAlone, DeliveryClass.Once);
        yield return Case(
            "Forwarded at the second attempt", Acked.Attempted(It, 1, AttemptPoint.Started).Handled(It, 2, ASendAlone), ASendAlone, DeliveryClass.Once);
        yield return Case("Forwarded, sent with an unknown answer", Unknown.Handled(It, 1, ASendAlone), ASendAlone, Recovered);
        yield return Case("Forwarded by each of two attempts", Forwarded.Handled(It, 2, ASendAlone), ASendAlone, DuplicatedOutgoing);
        yield return Case("Received, and not forwarded", Acked.Attempted(It, 1, AttemptPoint.Returned), ASendAlone, Lost);
        yield return Case("Forwarded, then given up", Forwarded.InErrorQueue(It), ASendAlone, Zombie);
        yield return Case("Forwarded twice, then given up", Forwarded.Handled(It, 2, ASendAlone).InErrorQueue(It), ASendAlone, Zombie, DuplicatedOutgoing);
        yield return Case("Given up, and not forwarded", Acked.Attempted(It, 1, AttemptPoint.Started).InErrorQueue(It), ASendAlone, CleanError);
        yield return Case("Forwarded, its receive not committed", Forwarded.Queued(It), ASendAlone, Stuck);
        yield return Case("Not picked up by the handler that forwards", Acked.Queued(It), ASendAlone, Stuck);
        yield return Case(
            "Forwarded to another queue", Acked.Attempted(It, 1, AttemptPoint.Returned).Arrived(It, 1, "in another queue"), ASendAlone, Unexpected);
        yield return Case("Forwarded to both queues", Forwarded.Arrived(It, 2, "in another queue"), ASendAlone, Unexpected, DuplicatedOutgoing);
        yield return Case("A row of a handler that inserts none", Forwarded.Row(It, 1), ASendAlone, Unexpected, Duplicated);
        yield return Case("A row instead of the message", Acked.Attempted(It, 1, AttemptPoint.Returned).Row(It, 1), ASendAlone, Unexpected, Duplicated, Zombie);
        yield return Case("Forwarded, and nobody sent it", InventedHistory.Empty.Handled(It, 1, ASendAlone), ASendAlone, Unexpected);
    }

    [TestCaseSource(nameof(Cases))]
    public void It_is_in_one_class_and_what_else_holds_is_kept(History history, Workload workload, DeliveryClass[] classes)
    {
        var account = Account.Of(history, workload);
        var verdict = account.Verdicts.Single();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(verdict.Also.Prepend(verdict.Class), Is.EqualTo(classes), string.Join('\n', verdict.Evidence));
            Assert.That(account.Counts.Values.Sum(), Is.EqualTo(1));
            Assert.That(account.Counts[classes[0]], Is.EqualTo(1));
        }
    }

    [Test]
    public void Flags_and_excess_tell_what_the_class_does_not()
    {
        static MessageVerdict Of(History history, Workload? workload = null) => Account.Of(history, workload ?? OneRowAndASend).Verdicts.Single();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(Of(Once).Flags, Is.EqualTo(VerdictFlags.None));
            Assert.That(Of(Inserted(1).InErrorQueue(It)).Flags, Is.EqualTo(VerdictFlags.InErrorQueue));
            Assert.That(Of(Acked.Queued(It)).Flags, Is.EqualTo(VerdictFlags.Receivable));
            Assert.That(Of(Prepared.Queued(It, receivable: false)).Flags, Is.EqualTo(VerdictFlags.Prepared | VerdictFlags.Unreceivable));
            Assert.That(Of(Once.Arrived(It, 1)).Flags, Is.EqualTo(VerdictFlags.SameOutgoingId));
            Assert.That(Of(Once.Arrived(It, 2)).Flags, Is.EqualTo(VerdictFlags.None));
            Assert.That(Of(Unknown.Queued(It)).Flags, Is.EqualTo(VerdictFlags.SendUnknown | VerdictFlags.Receivable));
            Assert.That(Of(Acked.Attempted(It, 1, AttemptPoint.Started).Row(It, 1), TwoRows).Flags, Is.EqualTo(VerdictFlags.HalfDone));
            Assert.That(Of(Inserted(3)).ExcessRows, Is.EqualTo(2));
            Assert.That(Of(Acked.Handled(It, 1, TwoRows).Handled(It, 2, TwoRows), TwoRows).ExcessRows, Is.EqualTo(2));
            Assert.That(Of(Acked).ExcessRows, Is.Zero);
        }
    }

    [Test]
    public void Evidence_is_told_in_lines()
    {
        var history = Inserted(1).Arrived(It, 1).InErrorQueue(It).Queued(It, receivable: false, claimedBy: 500).LeftPrepared(500);

        Assert.That(Account.Of(history, OneRowAndASend).Verdicts.Single().Evidence, Is.EqualTo(new[]
        {
            "sent: acked",
            "attempt 00000001-0001-0001-0000-000000000000: started, before-insert, after-first-insert; process 4711, transaction 101",
            "row 1 of attempt 00000001-0001-0001-0000-000000000000",
            "outgoing message 00000001-0002-0001-0000-000000000000",
            "in the error queue: 1",
            "in the queue, not receivable, claimed by transaction 500",
            "prepared: kit/7/16384/99, transaction 500",
        }));
    }

    [TestCase(SendResult.Unknown)]
    [TestCase(SendResult.Failed)]
    public void It_was_never_sent_when_nothing_confirms_it_and_nothing_is_found(SendResult result)
    {
        var account = Account.Of(InventedHistory.Empty.Sent(It, result), OneRowAndASend);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Verdicts, Is.Empty);
            Assert.That(account.NeverSent, Is.EqualTo(new[] { InventedHistory.Message(It) }));
        }
    }

    [TestCase(0, false)]
    [TestCase(-1, true)]
    public void Attempt_that_leaves_nothing_cannot_be_accounted_for(int rows, bool sends) =>
        Assert.That(() => new Workload(rows, sends, ReceiveIsBranch: true), Throws.InstanceOf<ArgumentOutOfRangeException>());

    private static TestCaseData Case(string name, History history, params DeliveryClass[] classes) => Case(name, history, OneRowAndASend, classes);

    private static TestCaseData Case(string name, History history, Workload workload, params DeliveryClass[] classes) =>
        new TestCaseData(history, workload, classes).SetArgDisplayNames(name);
}
