using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Ends several branches in one round trip.</summary>
internal static class BranchEnds
{
    /// <summary>Executes each statement in a transaction of its own, as <c>COMMIT PREPARED</c> requires. Each fails alone.</summary>
    /// <exception cref="PostgresException">At least one failed.</exception>
    /// <exception cref="ServerRefusedException">At least one did not wait for the standbys to the end.</exception>
    public static async Task ExecuteAsync(NpgsqlConnection connection, IEnumerable<string> statements)
    {
        await using var batch = connection.CreateBatch();
        batch.EnableErrorBarriers = true;
        foreach (var statement in statements)
            batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));

        if (batch.BatchCommands.Count == 0)
            return;

        using var standbys = StandbyWait.On(connection);
        await batch.ExecuteNonQueryAsync();
        standbys.Require();
    }
}
