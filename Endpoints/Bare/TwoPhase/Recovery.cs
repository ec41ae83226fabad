using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>
/// Ends the branches that a crash, a broken connection or a failed second phase left prepared, by the decision of the transaction that
/// received their message: committed or aborted. Branches of undecided transactions are left alone, and those of other queues.
/// Several processes may recover the same queue: a decision never changes, so they can only do the same.
/// </summary>
internal sealed partial class Recovery(NpgsqlDataSource queues, NpgsqlDataSource data, QueueDatabase database, ILogger log)
{
    /// <summary>Ends what can be ended now.</summary>
    /// <param name="olderThan">Younger branches are left alone: their own second phase is most likely under way.</param>
    /// <param name="cancellationToken">Cancels it between two branches.</param>
    /// <returns>How many branches were ended.</returns>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task<int> RunAsync(TimeSpan olderThan, CancellationToken cancellationToken)
    {
        var ended = 0;
        foreach (var branch in await ReadPreparedAsync(olderThan, cancellationToken))
        {
            switch (await ReadDecisionAsync(branch, cancellationToken))
            {
                case "committed":
                    ended += await EndAsync($"COMMIT PREPARED '{branch}'", branch, cancellationToken);
                    break;
                case "aborted":
                    ended += await EndAsync($"ROLLBACK PREPARED '{branch}'", branch, cancellationToken);
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

    private async Task<List<BranchId>> ReadPreparedAsync(TimeSpan olderThan, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand(
            """
            SELECT gid FROM pg_prepared_xacts
            WHERE database = current_database() AND starts_with(gid, $1) AND prepared <= clock_timestamp() - $2
            """);
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

    private async Task<string?> ReadDecisionAsync(BranchId branch, CancellationToken cancellationToken)
    {
        try
        {
            await using var command = queues.CreateCommand("SELECT pg_xact_status($1::text::xid8)");
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = branch.TransactionId.ToString(System.Globalization.CultureInfo.InvariantCulture) });
            return await command.ExecuteScalarAsync(cancellationToken) as string;
        }
        catch (PostgresException future) when (future.SqlState == PostgresErrorCodes.InvalidParameterValue)
        {
            // "transaction ID … is in the future": the queue's database was restored from an older backup.
            return null;
        }
    }

    private async Task<int> EndAsync(string statement, BranchId branch, CancellationToken cancellationToken)
    {
        try
        {
            await using var command = data.CreateCommand(statement);
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
