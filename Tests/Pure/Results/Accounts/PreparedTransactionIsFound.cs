using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Tests.Results.Accounts;

/// <summary>A prepared transaction, and the message that it belongs to.</summary>
public sealed class PreparedTransactionIsFound
{
    private static readonly Workload Workload = new(RowsPerAttempt: 1, Sends: false, ReceiveIsBranch: false);
    private static readonly History Two = InventedHistory.Clean(2, Workload);

    [Test]
    public void By_the_transaction_of_an_attempt() =>
        Assert.That(TornOf(Two.LeftPrepared(InventedHistory.Transaction(2, 1))), Is.EqualTo(new[] { InventedHistory.Message(2) }));

    [Test]
    public void By_the_transaction_that_claims_a_queued_message() =>
        Assert.That(TornOf(Two.LeftPrepared(77).Queued(1, receivable: false, claimedBy: 77)), Is.EqualTo(new[] { InventedHistory.Message(1) }));

    [Test]
    public void By_the_process_at_the_end_of_the_drivers_id_where_one_message_had_it() =>
        Assert.That(
            TornOf(Two.LeftPrepared(77, DriversId(1234)) with { Attempts = [.. Two.Attempts, WithProcess(1, 1234)] }),
            Is.EqualTo(new[] { InventedHistory.Message(1) }));

    [Test]
    public void Not_by_a_process_that_served_several() => AssertUnattributed(Two.LeftPrepared(77, DriversId(InventedHistory.PooledProcess)));

    [Test]
    public void Not_by_a_process_when_another_message_has_its_transaction() =>
        Assert.That(
            TornOf(Two.LeftPrepared(InventedHistory.Transaction(2, 1), DriversId(1234)) with { Attempts = [.. Two.Attempts, WithProcess(1, 1234)] }),
            Is.EqualTo(new[] { InventedHistory.Message(2) }));

    [TestCase("kit/7/16384/4711", TestName = "Not_by_a_number_in_the_kits_own_id")]
    [TestCase("somebody's", TestName = "Not_when_it_is_somebody_elses")]
    public void Not_at_all(string globalId) =>
        AssertUnattributed(InventedHistory.Clean(1, Workload).LeftPrepared(77, globalId));

    [Test]
    public void In_no_order_of_attempts() =>
        AssertUnattributed(Two.LeftPrepared(77) with { Attempts = [.. Two.Attempts, WithTransaction(1, 77), WithTransaction(2, 77)] });

    private static IEnumerable<Guid> TornOf(History history)
    {
        var account = Account.Of(history, Workload);
        Assert.That(account.Unattributed, Is.Empty);
        return account.AllOf(Torn).Select(verdict => verdict.MessageId);
    }

    private static void AssertUnattributed(History history)
    {
        var account = Account.Of(history, Workload);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Unattributed, Is.EqualTo(history.Prepared));
            Assert.That(account.Counts[Once], Is.EqualTo(account.Verdicts.Count));
            Assert.That(account.ViolationsOf(new HashSet<DeliveryClass> { Once, InDoubt, Torn }).Single().MessageId, Is.Null);
        }
    }

    private static AttemptLine WithProcess(int message, int process) =>
        new(InventedHistory.Message(message), InventedHistory.Attempt(message, 1), AttemptPoint.AfterFirstInsert, [new Backend(process)]);

    private static AttemptLine WithTransaction(int message, uint transaction) =>
        new(InventedHistory.Message(message), InventedHistory.Attempt(message, 1), AttemptPoint.AfterFirstInsert, [new Backend(1, transaction)]);

    private static string DriversId(int process) => $"{Guid.Empty}/{process}";
}
