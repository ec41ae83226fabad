using System.Data;
using System.Data.Common;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>One attempt of an experiment's handler, as recorded in the journal.</summary>
internal sealed class Attempt(AttemptJournal journal, Guid messageId)
{
    private readonly HashSet<Backend> backends = [];

    public Guid MessageId => messageId;

    public Guid Id { get; } = Guid.CreateVersion7();

    /// <summary>Process id of the last server session; 0 before the first.</summary>
    public int Session { get; private set; }

    public void Note(AttemptPoint point, string? what = null) =>
        journal.Write(new AttemptLine(messageId, Id, point, [.. backends], what) { At = DateTimeOffset.UtcNow });

    /// <summary>Notes that it has reached a point.</summary>
    /// <param name="parks">True if it waits there to be killed.</param>
    public async Task ReachAsync(AttemptPoint point, bool parks)
    {
        Note(point);
        if (parks)
        {
            Note(AttemptPoint.Faulted, "waits to be killed");
            await Task.Delay(Timeout.InfiniteTimeSpan, CancellationToken.None);
        }
    }

    /// <summary>Inserts a row that names it, and reads its session and transaction in the same round trip.</summary>
    /// <exception cref="DbException">The database refused the row or cannot be reached.</exception>
    public async Task InsertAsync(DbConnection connection, long id, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText =
            "INSERT INTO widget (id, message_id, attempt_id) VALUES (@id, @message_id, @attempt_id) " +
            "RETURNING pg_backend_pid(), pg_current_xact_id()::text::bigint & 4294967295";
        command.AddParameter("id", DbType.Int64, id);
        command.AddParameter("message_id", DbType.Guid, messageId);
        command.AddParameter("attempt_id", DbType.Guid, Id);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        var backend = new Backend(reader.GetInt32(0), (uint)reader.GetInt64(1));
        backends.Add(backend);
        Session = backend.ProcessId;
    }
}
