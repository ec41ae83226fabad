using System.Globalization;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Reads the decisions on branches from <c>pg_xact_status</c>, and says what ends a branch.</summary>
internal static class BranchDecisions
{
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
        command.CommandText = "SELECT pg_xact_status($1::xid8)";
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = Text(transactionId) });
        try
        {
            return Of(await command.ExecuteScalarAsync(cancellationToken) as string);
        }
        catch (PostgresException future) when (future.SqlState == PostgresErrorCodes.InvalidParameterValue)
        {
            // "transaction ID … is in the future": the server was restored from an older backup, without this transaction.
            return BranchDecision.Unknown;
        }
    }

    /// <summary>Asks for the decisions of several branches and for the slots in use, in one statement: a second one would be one more commit.</summary>
    /// <param name="connection">Also ends the branches, so that both happen on one server.</param>
    /// <param name="transactionIds">The ids of the transactions that received, in the order of the answer.</param>
    /// <exception cref="NpgsqlException">The connection broke, or the server does not know one of the transactions yet.</exception>
    public static async Task<(IReadOnlyList<BranchDecision> Decisions, long UsedSlots)> ReadAsync(
        NpgsqlConnection connection, IEnumerable<ulong> transactionIds)
    {
        await using var ask = new NpgsqlCommand(
            $"""
            SELECT pg_xact_status(id::xid8), ({Slots.CountUsed})
            FROM unnest($1) WITH ORDINALITY AS asked (id, place)
            ORDER BY place
            """,
            connection);
        ask.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. transactionIds.Select(Text)] });
        await using var answer = await ask.ExecuteReaderAsync();
        var (decisions, used) = (new List<BranchDecision>(), 0L);
        while (await answer.ReadAsync())
        {
            decisions.Add(Of(answer.IsDBNull(0) ? null : answer.GetString(0)));
            used = answer.GetInt64(1);
        }

        return (decisions, used);
    }

    /// <summary>The statement that ends a branch; <see langword="null"/> if the branch must be left alone.</summary>
    public static string? StatementOf(BranchDecision decision, BranchId branch) => decision switch
    {
        BranchDecision.Committed => branch.Commit,
        BranchDecision.Aborted => branch.RollBack,
        BranchDecision.Undecided or BranchDecision.Unknown => null,
        _ => throw new InvalidOperationException($"No statement ends a branch whose decision is {decision}."),
    };

    /// <summary>The decision that an answer of <c>pg_xact_status</c> is.</summary>
    /// <exception cref="InvalidOperationException">PostgreSQL gave an answer that it did not have when this was written.</exception>
    public static BranchDecision Of(string? status) => status switch
    {
        "committed" => BranchDecision.Committed,
        "aborted" => BranchDecision.Aborted,
        "in progress" => BranchDecision.Undecided,
        null => BranchDecision.Unknown,
        _ => throw new InvalidOperationException($"pg_xact_status answered '{status}'. Expected: committed, aborted, in progress or NULL."),
    };

    private static string Text(ulong transactionId) => transactionId.ToString(CultureInfo.InvariantCulture);
}
