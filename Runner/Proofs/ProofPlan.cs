using Kit.Runner.Faults.Points;

namespace Kit.Runner.Proofs;

/// <summary>The plan of one <c>prove</c>.</summary>
/// <param name="Only">The only experiment; <see langword="null"/>: all.</param>
/// <param name="Budget">After this time no new experiment begins; <see langword="null"/>: there is no limit.</param>
internal sealed record ProofPlan(ProofFile File, string Folder, PointToken? Only, TimeSpan? Budget);
