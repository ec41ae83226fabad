namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The global transaction id of a prepared branch. It names the record of its decision: see <see cref="IDecisionLog"/>.</summary>
internal readonly record struct BranchId(string GlobalId)
{
    /// <summary>The statement that prepares it.</summary>
    public string Prepare => $"PREPARE TRANSACTION '{GlobalId}'";

    /// <summary>The statement that commits it.</summary>
    public string Commit => $"COMMIT PREPARED '{GlobalId}'";

    /// <summary>The statement that rolls it back.</summary>
    public string RollBack => $"ROLLBACK PREPARED '{GlobalId}'";

    public override string ToString() => GlobalId;
}
