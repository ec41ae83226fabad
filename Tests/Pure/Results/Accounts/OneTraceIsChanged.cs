using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Tests.Results.Accounts;

/// <summary>A history with a message of each class among clean ones; one trace of one message is changed.</summary>
public sealed class OneTraceIsChanged
{
    private static readonly Workload Workload = new(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: true);

    /// <summary>Message 1 to 10 are clean, then one of each class.</summary>
    private static readonly History Gallery = InventedHistory.Clean(10, Workload)
        .Sent(11).Attempted(11, 1, AttemptPoint.BeforeInsert)
        .Sent(12).Handled(12, 1, Workload).Attempted(12, 2, AttemptPoint.AfterFirstInsert).Row(12, 2)
        .Sent(13).Handled(13, 1, Workload).Arrived(13, 1)
        .Sent(14).Attempted(14, 1, AttemptPoint.Returned).Arrived(14, 1)
        .Sent(15).Attempted(15, 1, AttemptPoint.AfterFirstInsert).Row(15, 1)
        .Sent(16).Attempted(16, 1, AttemptPoint.Started).InErrorQueue(16)
        .Sent(17).Attempted(17, 1, AttemptPoint.AfterFirstInsert).LeftPrepared(InventedHistory.Transaction(17, 1)).Queued(17, receivable: false)
        .Sent(18).Attempted(18, 1, AttemptPoint.AfterFirstInsert).LeftPrepared(InventedHistory.Transaction(18, 1), "kit/7/16384/98")
        .Sent(19).Queued(19, receivable: false)
        .Sent(20, SendResult.Unknown).Handled(20, 1, Workload)
        .Sent(21, SendResult.Failed).Handled(21, 1, Workload);

    private static IEnumerable<TestCaseData> Mutations()
    {
        yield return Mutation("A row is dropped", history => history.DropRow(3), Once, Ghost);
        yield return Mutation("Row and sink entry are dropped", history => history.DropRow(3).DropSink(3), Once, Lost);
        yield return Mutation("A row is doubled", history => history.Row(3, 1), Once, Duplicated);
        yield return Mutation("A sink entry is dropped", history => history.DropSink(3), Once, Zombie);
        yield return Mutation("A sink entry is doubled", history => history.Arrived(3, 1), Once, DuplicatedOutgoing);
        yield return Mutation("A second outgoing id", history => history.Arrived(3, 2), Once, DuplicatedOutgoing);
        yield return Mutation("An error as well as the effect", history => history.InErrorQueue(3), Once, Zombie);
        yield return Mutation("A queue entry as well as the effect", history => history.Queued(3), Once, Stuck);
        yield return Mutation(
            "An orphaned prepared transaction",
            history => history.LeftPrepared(InventedHistory.Transaction(3, 1), "kit/7/16384/3"),
            Once, Torn);
        yield return Mutation("Its attempts are struck from the journal", history => history.NotAttempted(3), Once, Unexpected);
        yield return Mutation("Its sending is struck from the journal", history => history.NotSent(3), Once, Unexpected);
        yield return Mutation("The answer to its sending is forgotten", history => history.NotSent(3).Sent(3, SendResult.Unknown), Once, Recovered);
        yield return Mutation("A message is found again", history => history.Queued(11), Lost, Stuck);
        yield return Mutation("A lost message is given up", history => history.InErrorQueue(11), Lost, CleanError);
        yield return Mutation("One of two rows is dropped", history => history.DropRow(12), Duplicated, Once);
        yield return Mutation("Both sink entries are dropped", history => history.DropSink(13), DuplicatedOutgoing, Zombie);
        yield return Mutation("A ghost's message is dropped", history => history.DropSink(14), Ghost, Lost);
        yield return Mutation("A ghost's row comes", history => history.Row(14, 1), Ghost, Once);
        yield return Mutation("A zombie's message arrives", history => history.Arrived(15, 1), Zombie, Once);
        yield return Mutation("A zombie's row is dropped", history => history.DropRow(15), Zombie, Lost);
        yield return Mutation("An error entry is lost", history => history.DropError(16), CleanError, Lost);
        yield return Mutation("An error entry is doubled", history => history.InErrorQueue(16), CleanError, DuplicatedOutgoing);
        yield return Mutation("An error's row comes", history => history.Row(16, 1), CleanError, Zombie);
        yield return Mutation("The queue entry of a message in doubt is lost", history => history.DropQueued(17), InDoubt, Torn);
        yield return Mutation("A row of a message in doubt is seen", history => history.Row(17, 1), InDoubt, Torn);
        yield return Mutation("Recovery ends a torn message without its row", history => history with { Prepared = [.. history.Prepared.Take(1)] }, Torn, Lost);
        yield return Mutation("A torn message lies in its queue", history => history.Queued(18), Torn, InDoubt);
        yield return Mutation("A queue entry is lost", history => history.DropQueued(19), Stuck, Lost);
        yield return Mutation(
            "A stuck message is claimed by what is prepared",
            history => history.DropQueued(19).Queued(19, false, 77).LeftPrepared(77),
            Stuck, InDoubt);
        yield return Mutation("A recovered message's answer comes", history => history.NotSent(20).Sent(20), Recovered, Once);
        yield return Mutation("A recovered message's row is dropped", history => history.DropRow(20), Recovered, Ghost);
        yield return Mutation("A refused message was not refused", history => history.NotSent(21).Sent(21), Unexpected, Once);
    }

    [Test]
    public void Unchanged_it_has_a_message_of_each_class()
    {
        var account = Account.Of(Gallery, Workload);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts.Keys, Is.EquivalentTo(Enum.GetValues<DeliveryClass>()));
            foreach (var (kind, count) in account.Counts)
                Assert.That(count, Is.EqualTo(kind is Once ? 10 : 1), kind.ToString());
            Assert.That(account.Unattributed, Is.Empty);
            Assert.That(account.NeverSent, Is.Empty);
            Assert.That(account.ExcessRows, Is.EqualTo(1));
        }
    }

    [TestCaseSource(nameof(Mutations))]
    public void Exactly_one_message_moves_from_one_class_to_another(Func<History, History> mutate, DeliveryClass from, DeliveryClass to)
    {
        var before = Account.Of(Gallery, Workload);
        var after = Account.Of(mutate(Gallery), Workload);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                after.Counts.Where(count => count.Value != before.Counts[count.Key]).Select(count => (count.Key, count.Value - before.Counts[count.Key])),
                Is.EquivalentTo(new[] { (from, -1), (to, 1) }));
            Assert.That(
                after.Verdicts.Zip(before.Verdicts).Where(pair => pair.First.Class != pair.Second.Class).Select(pair => (pair.Second.Class, pair.First.Class)),
                Is.EqualTo(new[] { (from, to) }));
            Assert.That(after.Counts.Values.Sum(), Is.EqualTo(21), "the classes partition the messages");
        }
    }

    [Test]
    public void Trace_of_a_stranger_adds_one_and_moves_none()
    {
        var before = Account.Of(Gallery, Workload);
        foreach (var found in new[]
        {
            Gallery.Row(99, 1),
            Gallery.Arrived(99, 1),
            Gallery.InErrorQueue(99),
            Gallery.Queued(99),
            Gallery.Attempted(99, 1, AttemptPoint.Started),
        })
        {
            var after = Account.Of(found, Workload);

            using (Assert.EnterMultipleScope())
            {
                Assert.That(after.Counts[Unexpected], Is.EqualTo(2));
                Assert.That(after.Verdicts.SkipLast(1).Select(verdict => verdict.Class), Is.EqualTo(before.Verdicts.Select(verdict => verdict.Class)));
            }
        }
    }

    private static TestCaseData Mutation(string name, Func<History, History> mutate, DeliveryClass from, DeliveryClass to) =>
        new TestCaseData(mutate, from, to).SetArgDisplayNames(name, from.ToString(), to.ToString());
}
