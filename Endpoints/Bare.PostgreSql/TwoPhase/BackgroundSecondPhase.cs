using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Commits branches in batches, one round trip each, while the workers go on. If it falls behind, <see cref="Slots"/> makes the workers wait.
/// PostgreSQL flushes its log at every COMMIT PREPARED, whatever synchronous_commit says. A batch saves round trips and context switches, so
/// this waits a moment for more branches. If none arrive, the workers commit their branches themselves (<see cref="GatheringPause"/>).
/// </summary>
internal sealed partial class BackgroundSecondPhase : ISecondPhase
{
    private static readonly TimeSpan Gathering = TimeSpan.FromMilliseconds(3);

    private readonly NpgsqlDataSource data;
    private readonly IDecisionLog decisions;
    private readonly Slots slots;
    private readonly ILogger log;
    private readonly Channel<PreparedBranch> decided = Channel.CreateUnbounded<PreparedBranch>(new UnboundedChannelOptions { SingleReader = true });
    private readonly GatheringPause pause = new();
    private readonly LoneCommit alone;
    private readonly Task committing;

    /// <param name="data">The database of the branches, with connections that no handler can hold.</param>
    /// <param name="decisions">The record of the decisions.</param>
    /// <param name="slots">Notes each branch that has ended or is left, and how many slots are in use.</param>
    /// <param name="log">Logs branches that are left to recovery.</param>
    public BackgroundSecondPhase(NpgsqlDataSource data, IDecisionLog decisions, Slots slots, ILogger log)
    {
        this.data = data;
        this.decisions = decisions;
        this.slots = slots;
        this.log = log;
        alone = new LoneCommit(decisions, slots, log);
        committing = CommitAsync();
    }

    public ValueTask FinishAsync(PreparedBranch branch) => pause.TrySkip() ? alone.ExecuteAsync(branch) : decided.Writer.WriteAsync(branch);

    public ValueTask LeftAsync(BranchId branch) => ValueTask.CompletedTask;

    /// <summary>Commits the waiting branches, then stops.</summary>
    public async ValueTask DisposeAsync()
    {
        decided.Writer.TryComplete();
        await committing;
    }

    private async Task CommitAsync()
    {
        var branches = new List<PreparedBranch>();
        while (await decided.Reader.WaitToReadAsync())
        {
            await Task.Delay(Gathering);
            branches.Clear();
            while (decided.Reader.TryRead(out var branch))
                branches.Add(branch);

            pause.Gathered(branches.Count);
            await CommitAsync(branches);
        }
    }

    private async Task CommitAsync(List<PreparedBranch> branches)
    {
        try
        {
            await using var connection = await data.OpenConnectionAsync();
            var used = await decisions.RequireDecidedAsync(connection, [.. branches.Select(branch => branch.Id)]);
            await BranchEnds.ExecuteAsync(connection, branches.Select(branch => branch.Id.Commit), decisions.BeforeEnds);
            slots.Saw(used - branches.Count);
            foreach (var branch in branches)
            {
                SecondPhaseLag.Record(branch.Decided);
                slots.Return(branch.Id);
            }
        }
        catch (Exception failure)
        {
            foreach (var branch in branches)
                slots.Leave(branch.Id);

            LogLeft(branches.Count, failure.Message);
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Count} branches are left to recovery, except those that have already ended: {Reason}")]
    private partial void LogLeft(int count, string reason);
}
