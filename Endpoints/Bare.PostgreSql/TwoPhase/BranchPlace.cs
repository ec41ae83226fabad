using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Where a unit can have a branch.</summary>
/// <param name="Participant">The name of the <see cref="Bare.Participant"/>.</param>
/// <param name="Id">The id that the branch is prepared as.</param>
/// <param name="Data">Reaches the database. Must not enlist.</param>
internal sealed record BranchPlace(string Participant, BranchId Id, NpgsqlDataSource Data);
