using System.Diagnostics;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A branch whose commit is decided, before its second phase.</summary>
/// <param name="Id">The branch's id.</param>
/// <param name="Data">Reaches the server that the branch is prepared on, and not a clone of it.</param>
/// <param name="Decided">When the decision had committed, as returned by <see cref="Stopwatch.GetTimestamp"/>.</param>
internal readonly record struct PreparedBranch(BranchId Id, NpgsqlDataSource Data, long Decided);
