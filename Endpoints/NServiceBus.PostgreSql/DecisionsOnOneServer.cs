using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>
/// Queue and rows on one server: the outcome of the receive's transaction is the decision. The receive can be on another server than the last one, so its
/// branch is prepared only if it is on the same.
/// </summary>
/// <param name="receives">The record of the decisions.</param>
/// <param name="data">The handlers' database.</param>
/// <param name="mismatch">What is reported if they are on two servers.</param>
internal sealed class DecisionsOnOneServer(ReceivesAsDecisions receives, NpgsqlDataSource data, string mismatch) : IDecisions
{
    public IReadOnlyDictionary<string, NpgsqlDataSource> Data { get; } = new Dictionary<string, NpgsqlDataSource> { [""] = data };

    public async ValueTask<IDecision> OfAsync(NpgsqlConnection receive, CancellationToken cancellationToken)
    {
        var (transactionId, server) = await RunningServer.ReadTransactionAsync(receive, cancellationToken);
        return new ReceiveDecision(new TransportReceive(receive).CommitAsync, receives.BranchOf(transactionId), server.Require());
    }

    public string? MismatchOf(Exception reason) => reason is PostgresException failure && RunningServer.IsElsewhere(failure) ? mismatch : null;
}
