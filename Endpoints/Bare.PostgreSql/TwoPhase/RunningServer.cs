using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Identifies a running PostgreSQL server by the moment at which it started, in microseconds. A copy of the server (base backup, promoted standby)
/// has started at another moment, although it has the same system identifier. Only a copy of a running virtual machine has the same one.
/// </summary>
/// <param name="Started">Seconds since 1970, with six decimals.</param>
internal readonly record struct RunningServer(string Started)
{
    /// <summary>PostgreSQL quotes what it cannot convert, in every language of its messages.</summary>
    private const string Elsewhere = "kit: another server, started at";

    private const string ReadStart = "extract(epoch FROM pg_postmaster_start_time())::text";

    /// <summary>Reads the id of a connection's transaction together with its server, in one round trip.</summary>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public static async Task<(ulong TransactionId, RunningServer Server)> ReadTransactionAsync(
        NpgsqlConnection receive, CancellationToken cancellationToken)
    {
        await using var ask = new NpgsqlCommand($"SELECT pg_current_xact_id(), {ReadStart}", receive);
        await using var answer = await ask.ExecuteReaderAsync(cancellationToken);
        await answer.ReadAsync(cancellationToken);
        return (answer.GetFieldValue<ulong>(0), new RunningServer(answer.GetString(1)));
    }

    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    public static async Task<RunningServer> ReadAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var ask = source.CreateCommand($"SELECT {ReadStart}");
        return new RunningServer((string)(await ask.ExecuteScalarAsync(cancellationToken))!);
    }

    /// <summary>A statement that fails on every other server, with <see cref="IsElsewhere"/>.</summary>
    public NpgsqlBatchCommand Require() =>
        PostgreSqlStatement.Of($"SELECT CASE WHEN {ReadStart} = $1 THEN 1 ELSE ('{Elsewhere} ' || {ReadStart})::int END", Started);

    /// <summary>Whether <see cref="Require"/> failed because it ran on another server.</summary>
    public static bool IsElsewhere(PostgresException failure) => failure.MessageText.Contains(Elsewhere, StringComparison.Ordinal);
}
