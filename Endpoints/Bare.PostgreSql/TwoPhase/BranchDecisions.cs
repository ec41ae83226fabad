using System.Globalization;
using Npgsql;

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

    /// <summary>
    /// Asks for the decision. Transaction ids belong to the server, not to a database: every database can tell the decision, even if the queue's
    /// was dropped.
    /// </summary>
    /// <param name="ask">A command without a text, on the connection or data source to ask. Disposed of here.</param>
    /// <param name="transactionId">The id of the transaction that received.</param>
    /// <param name="cancellationToken">Cancels the question.</param>
    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    public static async Task<BranchDecision> ReadAsync(NpgsqlCommand ask, ulong transactionId, CancellationToken cancellationToken)
    {
        await using var command = ask;
        command.CommandText = PostgreSqlStatement.ReadTransactionStatus;
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = transactionId.ToString(CultureInfo.InvariantCulture) });
        try
        {
            return Read(await command.ExecuteScalarAsync(cancellationToken) as string);
        }
        catch (PostgresException future) when (future.SqlState == PostgresErrorCodes.InvalidParameterValue)
        {
            // "transaction ID … is in the future": the server was restored from an older backup.
            return BranchDecision.Unknown;
        }
    }

    /// <summary>The statement that ends a branch; <see langword="null"/> if the branch must be left alone.</summary>
    public static string? StatementOf(BranchDecision decision, BranchId branch) => decision switch
    {
        BranchDecision.Committed => $"COMMIT PREPARED '{branch}'",
        BranchDecision.Aborted => $"ROLLBACK PREPARED '{branch}'",
        BranchDecision.Undecided or BranchDecision.Unknown => null,
        _ => throw new InvalidOperationException($"No statement ends a branch whose decision is {decision}."),
    };
}
