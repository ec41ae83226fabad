using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Watches whether a server has waited for its synchronous standbys. A commit whose wait is cancelled, by a time-out for example, succeeds with a warning: it
/// is on this server's disk and perhaps on no standby's, so that a failover takes it back. On two servers that must count as an answer that was lost.
/// </summary>
internal sealed class StandbyWait : IDisposable
{
    // The function of PostgreSQL that gives the warning, which is translated.
    private const string Waiting = "SyncRepWaitForLSN";

    private readonly NpgsqlConnection connection;
    private bool isCancelled;

    private StandbyWait(NpgsqlConnection connection)
    {
        this.connection = connection;
        connection.Notice += Note;
    }

    /// <summary>Watches the statements of a connection until it is disposed of.</summary>
    public static StandbyWait On(NpgsqlConnection connection) => new(connection);

    /// <exception cref="ServerRefusedException">A statement did not wait to the end.</exception>
    public void Require()
    {
        if (isCancelled)
        {
            throw new ServerRefusedException(new NpgsqlException(
                "The server stopped waiting for its standbys (a time-out, or a cancellation), so that a failover could take the commit back."));
        }
    }

    public void Dispose() => connection.Notice -= Note;

    private void Note(object sender, NpgsqlNoticeEventArgs warning) => isCancelled |= warning.Notice.Routine == Waiting;
}
