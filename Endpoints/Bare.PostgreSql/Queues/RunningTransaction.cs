using System.Globalization;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>
/// A transaction whose commit may get no answer. Its id is believed only until the server crashes: the server can then have forgotten an id that nothing
/// had flushed, and assigns it again. (The id of a branch's receive is flushed with the branch: <see cref="BranchDecisions"/>.)
/// </summary>
/// <param name="Id">The id.</param>
/// <param name="Run">The run of the server, from one start or crash to the next.</param>
internal readonly record struct RunningTransaction(ulong Id, string Run)
{
    // When one of its processes is killed, the server recovers from its log, as after any crash, and keeps its start time. But its statistics begin
    // anew, as they do when somebody resets them.
    private const string AskRun =
        "(SELECT concat(extract(epoch FROM pg_postmaster_start_time()), '/', extract(epoch FROM stats_reset)) FROM pg_stat_bgwriter)";

    /// <summary>Reads the run of a session's server. A crash ends the session.</summary>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public static async Task<string> ReadRunAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var ask = new NpgsqlCommand($"SELECT {AskRun}", connection);
        return (string)(await ask.ExecuteScalarAsync(cancellationToken))!;
    }

    /// <summary>Reads the current transaction of a connection.</summary>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public static async Task<RunningTransaction> ReadAsync(NpgsqlConnection connection)
    {
        await using var ask = new NpgsqlCommand($"SELECT pg_current_xact_id(), {AskRun}", connection);
        await using var answer = await ask.ExecuteReaderAsync();
        await answer.ReadAsync();
        return new RunningTransaction(answer.GetFieldValue<ulong>(0), answer.GetString(1));
    }

    /// <summary>Asks for its outcome.</summary>
    /// <returns><see cref="BranchDecision.Unknown"/> if the server has crashed since, or is another one.</returns>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public async Task<BranchDecision> ReadOutcomeAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var ask = new NpgsqlCommand($"SELECT CASE WHEN {AskRun} = $1 THEN pg_xact_status($2::xid8) END", connection)
        {
            Parameters =
            {
                new NpgsqlParameter<string> { TypedValue = Run },
                new NpgsqlParameter<string> { TypedValue = Id.ToString(CultureInfo.InvariantCulture) },
            },
        };
        return BranchDecisions.Of(await ask.ExecuteScalarAsync(cancellationToken) as string);
    }
}
