namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Ends prepared branches whose commit is decided. What it cannot end is left to <see cref="Recovery"/>.</summary>
internal interface ISecondPhase : IAsyncDisposable
{
    /// <summary>Returns when the branch has ended or will be ended in the background.</summary>
    ValueTask FinishAsync(PreparedBranch branch);
}
