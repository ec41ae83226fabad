using System.Diagnostics;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A branch whose commit is decided and whose second phase is still to come.</summary>
/// <param name="Id">The branch.</param>
/// <param name="Data">Reaches the server that the branch is prepared on, and no clone of it.</param>
/// <param name="Decided">When the decision had committed, as <see cref="Stopwatch.GetTimestamp"/> gives it.</param>
internal readonly record struct PreparedBranch(BranchId Id, NpgsqlDataSource Data, long Decided);
