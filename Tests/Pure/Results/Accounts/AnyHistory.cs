using FsCheck;
using FsCheck.Fluent;
using Kit.Guarantees;
using Kit.Runner.Results.Accounts;

namespace Kit.Tests.Results.Accounts;

/// <summary>Random histories, possible and impossible ones. A failure prints the seed that draws the history again.</summary>
public sealed class AnyHistory
{
    private static readonly Config Thorough = Config.QuickThrowOnFailure.WithMaxTest(1_500);

    [Test]
    public void Is_partitioned_by_the_classes() => Holds(one =>
    {
        var account = Account.Of(one.History, one.Workload);
        var mentioned = one.Mentioned();

        return account.Verdicts.Select(verdict => verdict.MessageId).Concat(account.NeverSent).Order().SequenceEqual(mentioned)
            && account.Counts.Values.Sum() == account.Verdicts.Count
            && account.Verdicts.All(verdict => !verdict.Also.Contains(verdict.Class) && verdict.Also.All(also => also > verdict.Class));
    });

    [Test]
    public void Is_judged_alike_in_any_order_of_its_evidence() => Holds(one =>
    {
        var shuffled = Account.Of(one.History.Shuffled(one.Seed), one.Workload);
        var account = Account.Of(one.History, one.Workload);

        return account.Verdicts.Select(Text).SequenceEqual(shuffled.Verdicts.Select(Text))
            && account.NeverSent.SequenceEqual(shuffled.NeverSent)
            && account.Unattributed.ToHashSet().SetEquals(shuffled.Unattributed);
    });

    [Test]
    public void Is_judged_message_by_message() => Holds(one =>
        Account.Of(one.History, one.Workload).Verdicts.All(verdict =>
            Text(Account.Of(one.History.Of(verdict.MessageId), one.Workload).Verdicts.Single()) == Text(verdict)));

    [Test]
    public void Is_judged_as_the_classes_are_defined() => Holds(one =>
        Account.Of(one.History, one.Workload).Verdicts.All(verdict => IsDefined(verdict, one)));

    [Test]
    public void Has_messages_of_every_class()
    {
        var counts = Enum.GetValues<DeliveryClass>().ToDictionary(kind => kind, _ => 0);
        Holds(one =>
        {
            foreach (var (kind, count) in Account.Of(one.History, one.Workload).Counts)
                counts[kind] += count;
            return true;
        });

        TestContext.Out.WriteLine(string.Join(", ", counts.Select(count => $"{count.Key} {count.Value}")));
        Assert.That(counts.Values, Is.All.GreaterThan(10), "else the properties have shown little");
    }

    /// <summary>The predicates of the definition, one by one and with no order among them.</summary>
    private static bool IsDefined(MessageVerdict verdict, AnyOne one)
    {
        var found = one.History.Of(verdict.MessageId);
        var (r, o, e, q) = (found.Rows.Count, found.Sink.Count, found.Errors.Count, found.Queue.Count);
        var p = found.Prepared.Count(prepared =>
            found.Attempts.Any(line => line.Backends.Any(backend => backend.TransactionId == prepared.TransactionId))
            || found.Queue.Any(entry => entry.ClaimedBy == prepared.TransactionId));
        var whole = one.Workload.RowsPerAttempt;
        var half = found.Rows.CountBy(row => row.AttemptId).Any(attempt => attempt.Value < whole);
        var (to, reached) = (one.Workload.Deliveries, found.Sink.Select(row => row.Queue).ToHashSet().Count);
        var (inserts, mistaken) = (whole > 0, found.Sink.Any(row => row.Mistake is not null));
        var gone = one.Workload.ReceiveIsBranch && q == 0 && e == 0;
        var attempted = found.Attempts.Count > 0;
        var stranger = found.Rows.Any(row => found.Attempts.All(line => line.AttemptId != row.AttemptId));
        var sent = found.Sendings.Select(sending => sending.Result).ToList();

        bool Defined(DeliveryClass kind) => kind switch
        {
            DeliveryClass.Unexpected =>
                sent is not [SendResult.Acked or SendResult.Unknown] || (o > 0 && !one.Workload.Sends) || (r > 0 && !inserts) || mistaken
                || (one.Workload.HasJournal && (stranger || (!attempted && r + o > 0))),
            DeliveryClass.Torn => half || (p > 0 && (r > 0 || o > 0 || gone)),
            DeliveryClass.InDoubt => p > 0 && r == 0 && o == 0 && !gone,
            DeliveryClass.Duplicated => r > whole,
            DeliveryClass.Ghost => inserts && o > 0 && r == 0 && p == 0,
            DeliveryClass.Zombie => (r > 0 || (!inserts && o > 0)) && q == 0 && p == 0 && (e > 0 || (reached < to && one.Workload.Sends)),
            DeliveryClass.DuplicatedOutgoing => o > to || found.Sink.CountBy(row => row.Queue).Any(queue => queue.Value > 1) || e > 1,
            DeliveryClass.Stuck => q > 0 && p == 0,
            DeliveryClass.Lost => r + o + e + q + p == 0,
            DeliveryClass.CleanError => e == 1 && r + o + q + p == 0,
            DeliveryClass.Recovered => sent is [SendResult.Unknown] && IsOnce(),
            _ => sent is [SendResult.Acked] && IsOnce(),
        };

        bool IsOnce() => (!one.Workload.HasJournal || (attempted && !stranger)) && r == whole && !half && !mistaken
            && o == reached && o == (one.Workload.Sends ? to : 0) && e + q + p == 0;

        // Up to Lost the rules may overlap, and the verdict has all that hold; the good ends overlap with nothing.
        var holding = Enum.GetValues<DeliveryClass>().Where(Defined).ToList();
        return verdict.Also.Prepend(verdict.Class).SequenceEqual(
            holding is [DeliveryClass.Unexpected, .., DeliveryClass.CleanError] ? holding.SkipLast(1) : holding);
    }

    private static void Holds(Func<AnyOne, bool> property) => Prop.ForAll(Histories().ToArbitrary(), property).Check(Thorough);

    private static string Text(MessageVerdict verdict) =>
        $"{verdict.MessageId} {verdict.Class} [{string.Join(' ', verdict.Also)}] {verdict.Flags} +{verdict.ExcessRows}" +
        $"\n  {string.Join("\n  ", verdict.Evidence)}";

    private static Gen<AnyOne> Histories() =>
        from rows in Gen.Choose(0, 2)
        from sends in rows == 0 ? Gen.Constant(true) : Gen.Elements(true, false)
        from receiveIsBranch in Gen.Elements(true, false)
        from hasJournal in Gen.Elements(true, false)
        from deliveries in Gen.Frequency((3, Gen.Constant(1)), (1, Gen.Constant(2)))
        let workload = new Workload(rows, sends, receiveIsBranch) { HasJournal = hasJournal, Deliveries = deliveries }
        from count in Gen.Choose(1, 6)
        from messages in Gen.CollectToList(Enumerable.Range(1, count), number => Message(number, workload))
        from seed in Gen.Choose(0, int.MaxValue)
        select new AnyOne(messages.Aggregate(InventedHistory.Empty, (whole, add) => add(whole)), workload, seed);

    /// <summary>The traces of one message: mostly few, so that the good ends are drawn as well.</summary>
    private static Gen<Func<History, History>> Message(int number, Workload workload) =>
        from sendings in Gen.Frequency(
            (8, Gen.Constant<SendResult[]>([SendResult.Acked])),
            (3, Gen.Constant<SendResult[]>([SendResult.Unknown])),
            (1, AnyOf<SendResult>(0, 2)))
        from attempts in Gen.Frequency((6, AnyOf<AttemptPoint>(1, 3)), (1, AnyOf<AttemptPoint>(0, 0)))
        from rows in Gen.Frequency((3, Gen.Constant(Enumerable.Repeat(1, workload.RowsPerAttempt).ToArray())), (2, Some(0, 0, 1, 1)), (2, Some(0, 4, 1, 3)))
        from outgoing in Gen.Frequency((3, Gen.Constant(workload.Sends ? [1] : Array.Empty<int>())), (2, Some(0, 0, 1, 1)), (1, Some(0, 3, 1, 2)))
        from queues in Gen.Frequency((3, Gen.Constant(Enumerable.Range(0, workload.Deliveries).ToArray())), (1, Some(1, 2, 0, workload.Deliveries - 1)))
        from isMistaken in Gen.Frequency((9, Gen.Constant(false)), (1, Gen.Constant(true)))
        from errors in Gen.Frequency((3, Gen.Constant(0)), (1, Gen.Choose(0, 2)))
        from queued in Gen.Frequency((3, Gen.Constant(Array.Empty<int>())), (1, Some(0, 2, 0, 2)))
        from prepared in Gen.Frequency((4, Gen.Constant(Array.Empty<int>())), (1, Some(0, 2, 1, 3)))
        select (Func<History, History>)(history =>
        {
            history = sendings.Aggregate(history, (whole, result) => whole.Sent(number, result));
            history = attempts.Index().Aggregate(history, (whole, attempt) => whole.Attempted(number, attempt.Index + 1, attempt.Item));
            history = rows.Aggregate(history, (whole, attempt) => whole.Row(number, attempt));
            history = outgoing.Aggregate(history, (whole, id) => queues.Aggregate(
                whole, (arriving, queue) => arriving.Arrived(number, id, isMistaken ? "in another queue" : null, queue)));
            history = Enumerable.Range(0, errors).Aggregate(history, (whole, _) => whole.InErrorQueue(number));
            history = queued.Aggregate(
                history,
                (whole, claim) => whole.Queued(number, claim == 0, claim == 0 ? null : InventedHistory.Transaction(number, claim)));
            return prepared.Distinct().Aggregate(history, (whole, transaction) =>
                whole.LeftPrepared(InventedHistory.Transaction(number, transaction), $"kit/7/16384/{number}{transaction}"));
        });

    private static Gen<int[]> Some(int fewest, int most, int low, int high) =>
        Gen.Choose(fewest, most).SelectMany(count => Gen.Choose(low, high).ArrayOf(count));

    private static Gen<T[]> AnyOf<T>(int fewest, int most) where T : struct, Enum =>
        Gen.Choose(fewest, most).SelectMany(count => Gen.Elements(Enum.GetValues<T>()).ArrayOf(count));

    /// <summary>A drawn history, told by what was found in it.</summary>
    private sealed record AnyOne(History History, Workload Workload, int Seed)
    {
        public IEnumerable<Guid> Mentioned() => History.Sendings.Select(sending => sending.MessageId)
            .Union(History.Attempts.Select(line => line.MessageId))
            .Union(History.Rows.Select(row => row.MessageId))
            .Union(History.Sink.Select(row => row.CausedBy))
            .Union(History.Errors)
            .Union(History.Queue.Select(entry => entry.MessageId))
            .Order();

        public override string ToString() =>
            $"{Workload}, seed {Seed}\n{string.Join('\n', Account.Of(History, Workload).Verdicts.Select(Text))}";
    }
}
