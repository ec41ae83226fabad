namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Commits prepared branches whose commit is decided. It leaves those that it cannot commit to <see cref="Recovery"/>.</summary>
internal interface ISecondPhase : IAsyncDisposable
{
    /// <summary>Returns when the branch has ended, or is left to the background.</summary>
    ValueTask FinishAsync(PreparedBranch branch);

    /// <summary>Returns when the worker may go on, although recovery has to end this branch.</summary>
    /// <param name="branch">A branch whose decision was tried, and whose outcome only the server knows.</param>
    ValueTask LeftAsync(BranchId branch);
}
