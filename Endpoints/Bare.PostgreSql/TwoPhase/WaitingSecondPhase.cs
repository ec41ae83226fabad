using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Commits each branch before the worker goes on: when it receives the next message, the rows of the last one are visible. If a commit fails, the worker
/// waits until recovery has ended the branch, or until the endpoint stops.
/// </summary>
internal sealed class WaitingSecondPhase(IDecisionLog decisions, Slots slots, ILogger log, CancellationToken stopping) : ISecondPhase
{
    private readonly LoneCommit commit = new(decisions, slots, log);

    public async ValueTask FinishAsync(PreparedBranch branch)
    {
        await commit.ExecuteAsync(branch);
        await LeftAsync(branch.Id);
    }

    public async ValueTask LeftAsync(BranchId branch) =>
        await slots.EndOf(branch).WaitAsync(stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
