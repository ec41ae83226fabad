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
    public Task<BranchDecision> ReadOutcomeAsync(NpgsqlConnection connection, CancellationToken cancellationToken) =>
        AskAsync("SELECT CASE WHEN " + AskRun + " = $2 THEN pg_xact_status($1::xid8) END", connection, cancellationToken, Run);

    /// <summary>Asks for its outcome the session that executed it: a crash would have ended that.</summary>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public Task<BranchDecision> ReadOutcomeOnItsSessionAsync(NpgsqlConnection connection) =>
        AskAsync("SELECT pg_xact_status($1::xid8)", connection, CancellationToken.None);

    private async Task<BranchDecision> AskAsync(
        string question, NpgsqlConnection connection, CancellationToken cancellationToken, params IEnumerable<string> run)
    {
        await using var ask = new NpgsqlCommand(question, connection);
        foreach (var value in run.Prepend(Id.ToString(CultureInfo.InvariantCulture)))
            ask.Parameters.Add(new NpgsqlParameter<string> { TypedValue = value });
        return BranchDecisions.Of(await ask.ExecuteScalarAsync(cancellationToken) as string);
    }
}
