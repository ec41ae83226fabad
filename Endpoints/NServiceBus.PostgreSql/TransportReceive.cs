using System.Data;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>
/// The transaction in which the transport has received a message. When the message has been handled, the transport commits or rolls back what it finds on the
/// connection. So a commit here leaves it an empty transaction, and a refused one its own, which it rolls back.
/// </summary>
/// <param name="connection">The transport's connection.</param>
/// <param name="deciding">The statement that writes the list of a worker's row, if such a row decides.</param>
internal sealed class TransportReceive(NpgsqlConnection connection, Func<long[], NpgsqlBatchCommand>? deciding = null) : IQueueTransaction
{
    public NpgsqlConnection Connection => connection;

    /// <summary>Whether the transport can still commit. If not, its commit fails, and it counts the attempt.</summary>
    public static bool IsOpen(NpgsqlConnection receive) => receive.State == ConnectionState.Open;

    /// <summary>Gives the message back without an attempt: a roll-back, and an empty transaction for the transport's commit.</summary>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    public static Task GiveBackAsync(NpgsqlConnection receive) => PostgreSqlStatement.ExecuteAllAsync(receive, "ROLLBACK", "BEGIN");

    public Task CommitAsync() => CommitAfterAsync([]);

    public Task DecideAsync(long[] open) => CommitAfterAsync([deciding!(open)]);

    public Task EndRefusedAsync() => Task.CompletedTask;

    // What is deferred fails before the commit, because the transport could not roll back after one. In a transaction that has failed already, a lone COMMIT
    // would be answered with success.
    private async Task CommitAfterAsync(IEnumerable<NpgsqlBatchCommand> last)
    {
        var commit = new NpgsqlBatchCommand("COMMIT");
        try
        {
            await PostgreSqlStatement.ExecuteAllAsync(connection, [new("SET CONSTRAINTS ALL IMMEDIATE"), .. last, commit, new("BEGIN")]);
        }
        catch (PostgresException failure) when (PostgreSqlStatement.HasRun(commit))
        {
            throw new NpgsqlException("The receive's commit was answered, and the statement after it failed. Nobody has refused the commit.", failure);
        }
    }
}
