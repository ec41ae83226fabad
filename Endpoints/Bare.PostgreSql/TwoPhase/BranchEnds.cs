using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Ends several branches in one round trip.</summary>
internal static class BranchEnds
{
    /// <summary>Executes each statement in a transaction of its own, as <c>COMMIT PREPARED</c> requires. Each fails alone.</summary>
    /// <exception cref="PostgresException">At least one failed.</exception>
    public static async Task ExecuteAsync(NpgsqlConnection connection, IEnumerable<string> statements)
    {
        await using var batch = connection.CreateBatch();
        batch.EnableErrorBarriers = true;
        foreach (var statement in statements)
            batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));

        if (batch.BatchCommands.Count > 0)
            await batch.ExecuteNonQueryAsync();
    }
}
