using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>A connection in the kit's own local transaction. Closing the connection rolls back.</summary>
internal sealed class LocalTransaction : IAsyncDisposable
{
    private const string Savepoint = "kit_lent";

    private LocalTransaction(NpgsqlConnection connection, NpgsqlTransaction lent)
    {
        Connection = connection;
        Lent = lent;
    }

    public NpgsqlConnection Connection { get; }

    /// <summary>
    /// For the handler only. The driver reuses this object for the next user of the physical connection, so the endpoint commits with a
    /// statement instead, which fails if the handler has ended the transaction.
    /// </summary>
    public NpgsqlTransaction Lent { get; }

    /// <summary>Opens a connection and begins its transaction. The driver sends BEGIN together with the next statement.</summary>
    /// <param name="data">The handlers' database.</param>
    /// <param name="isolation">The mode's isolation level.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached, or refuses the connection.</exception>
    public static async ValueTask<LocalTransaction> OpenAsync(NpgsqlDataSource data, IsolationLevel isolation, CancellationToken cancellationToken)
    {
        NpgsqlConnection connection;
        using (DetachedDataSource.Detach())
            connection = await data.OpenConnectionAsync(cancellationToken);
        try
        {
            return new LocalTransaction(connection, await connection.BeginTransactionAsync(isolation, cancellationToken));
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    /// <summary>
    /// The same, with a savepoint after BEGIN, which the driver sends in the same round trip. <see cref="EndAsync"/> releases it.
    /// </summary>
    /// <inheritdoc cref="OpenAsync"/>
    public static async ValueTask<LocalTransaction> OpenToLendAsync(
        NpgsqlDataSource data, IsolationLevel isolation, CancellationToken cancellationToken)
    {
        var local = await OpenAsync(data, isolation, cancellationToken);
        try
        {
            await local.Lent.SaveAsync(Savepoint, cancellationToken);
            return local;
        }
        catch
        {
            await local.DisposeAsync();
            throw;
        }
    }

    /// <summary>Ends the transaction that <see cref="OpenToLendAsync"/> began, in one round trip.</summary>
    /// <remarks>
    /// In a failed transaction, or outside of a transaction, PostgreSQL does not report an error for COMMIT and PREPARE TRANSACTION, and the driver does
    /// not check (npgsql issue 6641). For the release of the savepoint it reports one, also if the handler has begun another transaction (COMMIT AND CHAIN).
    /// </remarks>
    /// <param name="ends">What ends it: the last is COMMIT or PREPARE TRANSACTION.</param>
    /// <exception cref="InvalidOperationException">The handler closed the connection, or ended the transaction.</exception>
    /// <exception cref="NpgsqlException">A statement failed, or the connection broke.</exception>
    public async Task EndAsync(params IReadOnlyList<NpgsqlBatchCommand> ends)
    {
        LentWork.RequireOpen(Connection);
        var release = new NpgsqlBatchCommand($"RELEASE SAVEPOINT {Savepoint}");
        try
        {
            await PostgreSqlStatement.ExecuteAllAsync(Connection, [release, .. ends]);
        }
        catch (PostgresException gone) when (!PostgreSqlStatement.HasRun(release)
            && gone.SqlState is (PostgresErrorCodes.NoActiveSqlTransaction or PostgresErrorCodes.InvalidSavepointSpecification))
        {
            throw new InvalidOperationException(
                "The handler ended the transaction that the endpoint had lent it. What it committed stays; its later work is rolled back. " +
                "A handler must not commit or roll back.",
                gone);
        }
    }

    /// <summary>Commits the transaction that <see cref="OpenToLendAsync"/> began, in one round trip.</summary>
    /// <param name="isFlushed">
    /// Whether the commit waits for the log and the standbys, whatever is set: a queue on another server forgets the message after it, and neither a crash nor
    /// a failover must take it back. Two servers can have one address.
    /// </param>
    /// <param name="before">What precedes the commit.</param>
    /// <inheritdoc cref="EndAsync" path="/exception"/>
    public async Task CommitAsync(bool isFlushed, params IEnumerable<NpgsqlBatchCommand> before)
    {
        if (!isFlushed)
        {
            await EndAsync([.. before, new NpgsqlBatchCommand("COMMIT")]);
            return;
        }

        using var standbys = StandbyWait.On(Connection);
        await EndAsync([.. before, .. StandbyWait.Commit]);
        await standbys.RepeatAsync();
    }

    /// <summary>
    /// Returns when all that has committed is on the standbys, too: a commit after it waits for them. What is seen as committed can be what an earlier commit
    /// stopped waiting for.
    /// </summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    /// <exception cref="ServerRefusedException">It stopped waiting.</exception>
    public static async Task AwaitStandbysAsync(NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        await using var local = await OpenAsync(data, IsolationLevel.ReadCommitted, cancellationToken);
        using var standbys = StandbyWait.On(local.Connection);
        await PostgreSqlStatement.ExecuteAllAsync(local.Connection, StandbyWait.CommitOfNothing);
        standbys.Require();
    }

    public ValueTask DisposeAsync() => Connection.DisposeAsync();
}
