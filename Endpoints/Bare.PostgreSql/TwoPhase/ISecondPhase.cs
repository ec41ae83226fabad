namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Commits prepared branches whose commit is decided. It leaves those that it cannot commit to <see cref="Recovery"/>.</summary>
internal interface ISecondPhase : IAsyncDisposable
{
    /// <summary>Returns when the branch has ended, or is left to the background.</summary>
    ValueTask FinishAsync(PreparedBranch branch);
}
