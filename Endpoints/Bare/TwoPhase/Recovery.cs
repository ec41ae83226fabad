using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>
/// Ends the branches that a crash, a broken connection or a failed second phase left prepared, by the decision of the transaction that
/// received their message: committed or aborted. Branches of undecided transactions are left alone, and those of other queues.
/// Several processes may recover the same queue: a decision never changes, so they can only do the same.
/// </summary>
/// <remarks>
/// One connection asks and ends, so that both are done on one server: after a failover a clone may say that the receive was aborted where
/// its origin committed it. A transaction's outcome is known in every database of its server.
/// </remarks>
internal sealed partial class Recovery(NpgsqlDataSource data, QueueDatabase database, ILogger log)
{
    /// <summary>Ends what can be ended now.</summary>
    /// <param name="olderThan">Younger branches are left alone: their own second phase is most likely under way.</param>
    /// <param name="cancellationToken">Cancels it between two branches.</param>
    /// <returns>How many branches were ended.</returns>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task<int> RunAsync(TimeSpan olderThan, CancellationToken cancellationToken)
    {
        var ended = 0;
        await using var connection = await data.OpenConnectionAsync(cancellationToken);
        foreach (var branch in await ReadPreparedAsync(connection, olderThan, cancellationToken))
        {
            switch (await ReadDecisionAsync(connection, branch, cancellationToken))
            {
                case "committed":
                    ended += await EndAsync(connection, $"COMMIT PREPARED '{branch}'", branch, cancellationToken);
                    break;
                case "aborted":
                    ended += await EndAsync(connection, $"ROLLBACK PREPARED '{branch}'", branch, cancellationToken);
                    break;
                case "in progress":
                    break;
                default:
                    LogUnknown(branch.ToString());
                    break;
            }
        }

        return ended;
    }

    private async Task<List<BranchId>> ReadPreparedAsync(NpgsqlConnection connection, TimeSpan olderThan, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(
            """
            SELECT gid FROM pg_prepared_xacts
            WHERE database = current_database() AND starts_with(gid, $1) AND prepared <= clock_timestamp() - $2
            """,
            connection);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = database.Prefix });
        command.Parameters.Add(new NpgsqlParameter<TimeSpan> { TypedValue = olderThan });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var branches = new List<BranchId>();
        while (await reader.ReadAsync(cancellationToken))
        {
            if (BranchId.TryParse(reader.GetString(0), out var branch))
                branches.Add(branch);
        }

        return branches;
    }

    private static async Task<string?> ReadDecisionAsync(NpgsqlConnection connection, BranchId branch, CancellationToken cancellationToken)
    {
        try
        {
            await using var command = new NpgsqlCommand("SELECT pg_xact_status($1::text::xid8)", connection);
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = branch.TransactionId.ToString(System.Globalization.CultureInfo.InvariantCulture) });
            return await command.ExecuteScalarAsync(cancellationToken) as string;
        }
        catch (PostgresException future) when (future.SqlState == PostgresErrorCodes.InvalidParameterValue)
        {
            // "transaction ID … is in the future": the queue's database was restored from an older backup.
            return null;
        }
    }

    private async Task<int> EndAsync(NpgsqlConnection connection, string statement, BranchId branch, CancellationToken cancellationToken)
    {
        try
        {
            await using var command = new NpgsqlCommand(statement, connection);
            await command.ExecuteNonQueryAsync(cancellationToken);
            LogEnded(statement);
            return 1;
        }
        catch (PostgresException taken) when (taken.SqlState is PostgresErrorCodes.UndefinedObject or PostgresErrorCodes.ObjectNotInPrerequisiteState)
        {
            // Its own second phase or another process has just ended it or is about to.
            return 0;
        }
        catch (PostgresException refused)
        {
            LogRefused(branch.ToString(), refused.MessageText);
            return 0;
        }
    }

    [LoggerMessage(Level = LogLevel.Information, Message = "Recovered: {Statement}")]
    private partial void LogEnded(string statement);

    [LoggerMessage(Level = LogLevel.Error, Message = "Branch {Branch} stays prepared: {Reason}")]
    private partial void LogRefused(string branch, string reason);

    [LoggerMessage(Level = LogLevel.Critical, Message = "Branch {Branch} stays prepared and holds its locks: its queue's server no longer knows the decision. Find its rows through pg_locks, then COMMIT PREPARED or ROLLBACK PREPARED it by hand.")]
    private partial void LogUnknown(string branch);
}
