using System.Diagnostics;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>A branch whose commit is decided and whose second phase is still to come.</summary>
/// <param name="Id">The branch.</param>
/// <param name="Decided">When the decision had committed, as <see cref="Stopwatch.GetTimestamp"/> gives it.</param>
internal readonly record struct PreparedBranch(BranchId Id, long Decided);
