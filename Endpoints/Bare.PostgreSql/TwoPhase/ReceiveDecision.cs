using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A unit's decision where queue and rows are on one server: the outcome of the transaction that received, whatever it records.</summary>
/// <param name="commitReceive">Commits that transaction.</param>
/// <param name="branch">The branch's id, which names it.</param>
/// <param name="required">Statements that have to succeed on the branch's server before it is prepared.</param>
internal sealed class ReceiveDecision(Func<Task> commitReceive, BranchId branch, params IReadOnlyList<NpgsqlBatchCommand> required) : IDecision
{
    public BranchId BranchOf(string participant) => branch;

    public IEnumerable<NpgsqlBatchCommand> BeforePrepare => required;

    public async Task CommitAsync(IReadOnlyCollection<BranchId> branches)
    {
        try
        {
            await commitReceive();
        }
        catch (PostgresException lost) when (!PostgreSqlStatement.IsRefused(lost))
        {
            throw new NpgsqlException("The connection was lost while the receive was committed, and only the server knows the outcome.", lost);
        }
    }

    public void Close()
    {
        // The server keeps the outcome of the receive's transaction.
    }
}

/// <summary>A worker's decisions and handlers where queue and rows are on one server, which was proved for its session.</summary>
internal sealed class OneServerDecider(OneServer server, ReceivesAsDecisions decisions) : IDecider
{
    public IReadOnlyDictionary<string, NpgsqlDataSource> Data { get; } = new Dictionary<string, NpgsqlDataSource> { [""] = server.Data };

    public InvalidOperationException? Refusal => server.Refusal;

    public IDecision Of(NpgsqlTransaction receive, ulong transactionId) =>
        new ReceiveDecision(() => receive.CommitAsync(), decisions.BranchOf(transactionId));

    public ValueTask DisposeAsync() => server.DisposeAsync();
}
