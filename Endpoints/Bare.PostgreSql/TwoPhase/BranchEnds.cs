using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Ends several branches in one round trip.</summary>
internal static class BranchEnds
{
    /// <summary>Executes each statement in a transaction of its own, as <c>COMMIT PREPARED</c> requires. Each fails alone.</summary>
    /// <param name="connection">Reaches the branches' database.</param>
    /// <param name="statements">The ends.</param>
    /// <param name="before">What the session executes first: <see cref="IDecisionLog.BeforeEnds"/>.</param>
    /// <exception cref="PostgresException">At least one failed.</exception>
    /// <exception cref="ServerRefusedException">At least one did not wait for the standbys to the end.</exception>
    public static async Task ExecuteAsync(NpgsqlConnection connection, IEnumerable<string> statements, string? before = null)
    {
        await using var batch = connection.CreateBatch();
        batch.EnableErrorBarriers = true;
        foreach (var statement in before is null ? statements : statements.Prepend(before))
            batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));

        if (batch.BatchCommands.Count == 0)
            return;

        using var standbys = StandbyWait.On(connection);
        await batch.ExecuteNonQueryAsync();
        standbys.Require();
    }
}
