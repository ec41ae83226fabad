namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Reads <c>pg_xact_status</c>, and says what ends a branch.</summary>
internal static class BranchDecisions
{
    /// <param name="status">The answer of <c>pg_xact_status</c>.</param>
    /// <exception cref="InvalidOperationException">PostgreSQL gave an answer that it did not have when this was written.</exception>
    public static BranchDecision Read(string? status) => status switch
    {
        "committed" => BranchDecision.Committed,
        "aborted" => BranchDecision.Aborted,
        "in progress" => BranchDecision.Undecided,
        null => BranchDecision.Unknown,
        _ => throw new InvalidOperationException($"pg_xact_status answered '{status}'. Expected: committed, aborted, in progress or NULL."),
    };

    /// <summary>The statement that ends a branch; <see langword="null"/> if the branch must be left alone.</summary>
    public static string? StatementOf(BranchDecision decision, BranchId branch) => decision switch
    {
        BranchDecision.Committed => $"COMMIT PREPARED '{branch}'",
        BranchDecision.Aborted => $"ROLLBACK PREPARED '{branch}'",
        BranchDecision.Undecided or BranchDecision.Unknown => null,
        _ => throw new InvalidOperationException($"No statement ends a branch whose decision is {decision}."),
    };
}
