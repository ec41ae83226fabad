using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Accounts;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Tests.Results.Faults;

/// <summary>One crash of a server during a drain: the classes of its messages are promised, and how many of them it affects.</summary>
public sealed class CrashDuringADrain
{
    private const int Workers = 2;

    private static readonly Workload Workload = new(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: false);

    [TestCase("restart-database", "dtc-off", false, true, ExpectedResult = 2)]
    [TestCase("database-away", "transactions-off", false, true, ExpectedResult = 4)]
    [TestCase("restart-database", "outbox", true, false, ExpectedResult = 3)]
    [TestCase("restart-database", "full-dtc", false, true, ExpectedResult = 0)]
    [TestCase("restart-database", "npgsql-scope", false, true, ExpectedResult = null, Description = "Branches that nobody recovers block others.")]
    [TestCase("database-away", "transactions-off", true, false, ExpectedResult = null, Description = "The broker goes on.")]
    [TestCase("database-away", "transactions-off", false, false, ExpectedResult = null, Description = "The queue's server goes on.")]
    [TestCase("restart-broker", "dtc-off", false, false, ExpectedResult = 2, Description = "The queue's server is a PostgreSQL server.")]
    [TestCase("restart-broker-late", "dtc-off", true, false, ExpectedResult = null)]
    public int? Affects_as_many_messages_as_a_cut_unless_it_is_a_broker_s(string fault, string mode, bool isBroker, bool isOneServer) =>
        PromiseOf(fault, mode, isBroker, isOneServer)!.Most(kills: 0, cuts: 1, Workers, isBroker ? 32 : 0);

    [Test]
    public void Has_a_promise_only_where_a_server_crashes() => Assert.That(PromiseOf("poison", "dtc-off", isBroker: false, isOneServer: true), Is.Null);

    [TestCase(2, 0, ExpectedResult = null)]
    [TestCase(2, 1, ExpectedResult = null, Description = "A ghost is a violation of its own.")]
    [TestCase(3, 0, ExpectedResult = "3 messages were not handled exactly once; a crash of a server may affect 2")]
    public string? Is_a_violation_if_it_doubles_more(int doubled, int ghosts)
    {
        var found = Enumerable.Range(1, doubled).Aggregate(InventedHistory.Clean(9, Workload), (history, message) => history.Row(message, 1));
        found = Enumerable.Range(8, ghosts).Aggregate(found, (history, message) => history.DropRow(message));
        var account = Account.Of(found, Workload);
        Assert.That((account.AllOf(Duplicated).Count, account.AllOf(Ghost).Count), Is.EqualTo((doubled, ghosts)));

        var promise = PromiseOf("restart-database", "dtc-off", isBroker: false, isOneServer: true)!;
        return StormLimits.TooManyAfterACrash(account, promise, Workers, prefetch: 0)?.Because;
    }

    private static StormPromise? PromiseOf(string fault, string mode, bool isBroker, bool isOneServer) =>
        FaultPromise.InADrain(Fault.All.Single(one => one.Name == fault), TransactionMode.Parse(mode), isBroker, isOneServer);
}
