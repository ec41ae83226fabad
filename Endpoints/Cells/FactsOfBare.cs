using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Endpoints.Cells;

/// <summary>The kit's own endpoint: the driver alone.</summary>
public static class FactsOfBare
{
    public static FrameworkFacts Facts { get; } = new("bare", "bare")
    {
        CommitOfRows = CommitOf,
        CommitOfReceive = [WireMark.BinaryId, WireMark.Commit],
        // A prepared statement with the decision, and in the same request the commit, directly after the request with the send.
        DecisionOnTwoServers = [WireMark.BinaryId, WireMark.EndOfRequest, WireMark.EndOfRequest],
        Limits =
        [
            SharedLimits.OfSettingsLeft(TransactionMode.NpgsqlScope),
            new(null,
                [
                    TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared,
                    TransactionMode.Outbox,
                ],
                Fault: null, Affected.Chosen, new HashSet<DeliveryClass> { CleanError, Zombie },
                "a lost session counts as a failed attempt, and a message that loses three is given up (the kit's bare endpoint)"),
            .. from fault in new[] { Fault.RestartBroker, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate }
               select new KnownLimit(
                   TransportName.RabbitMq, [TransactionMode.TransactionsOff], fault, Affected.Chosen,
                   new HashSet<DeliveryClass> { Duplicated, DuplicatedOutgoing },
                   "a classic queue is slow to record on disk which messages it has removed, so a killed broker can redeliver messages that it had " +
                   "delivered under no-ack (RabbitMQ 3.10.8)"),
        ],
    };

    private static IReadOnlyList<WireMark> CommitOf(MetCommit commit)
    {
        var rows = Enumerable.Repeat(WireMark.BinaryId, commit.Rows);
        // This commit is a prepared statement too, alone in the next request after the inserts. The request is a savepoint and the commit, and the server
        // executes each as it arrives: to prevent the commit, the request is held at the savepoint.
        if (commit.Mode == TransactionMode.DtcOff)
            return [.. rows, WireMark.EndOfRequest, commit.IsPrevented ? WireMark.Execution : WireMark.EndOfRequest];
        // A commit that is a prepared statement has no text; it is in one batch with the sends, which contain the id again.
        if (commit.Mode == TransactionMode.Outbox)
            return [WireMark.BinaryId, .. rows, WireMark.BinaryId];

        return commit.Mode == TransactionMode.Shared
            ? [.. rows, WireMark.BinaryId]
            : throw new NotSupportedException($"It is not defined how a bare endpoint commits rows in {commit.Mode}.");
    }
}
