using System.Transactions;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>
/// Hazards of Npgsql in a TransactionScope, each pinned to what the driver does today (npgsql issue 6641), so that a fixed one is noticed.
/// </summary>
[Parallelizable]
public sealed class DriversOwnTwoPhases
{
    [Test]
    public async Task A_branch_whose_session_ends_while_others_prepare_stays_in_doubt_and_the_scope_succeeds()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var terminated = new TerminationInPrepare(databases.Queue);
        using (var scope = NewScope())
        {
            await using (var first = await OpenAsync(databases.Widgets))
            await using (var second = await OpenAsync(databases.Widgets))
            {
                await InsertAsync(first, id: 1);
                await InsertAsync(second, id: 2);
                terminated.Process = second.ProcessID;
            }

            Transaction.Current!.EnlistVolatile(terminated, EnlistmentOptions.None);
            scope.Complete();
        }

        using (Assert.EnterMultipleScope())
        {
            Assert.That(terminated.HasFired, "the fault fired");
            Assert.That(await databases.CountPreparedAsync(), Is.EqualTo(1), "one branch in doubt");
            Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1), "the other is committed");
        }

        await databases.RollBackPreparedAsync();
    }

    [Test]
    public async Task A_swallowed_error_loses_the_rows_of_one_connection_and_the_scope_succeeds()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using (var scope = NewScope())
        {
            await using var connection = await OpenAsync(databases.Widgets);
            await InsertAsync(connection, id: 1);
            await FailAsync(connection);
            scope.Complete();
        }

        Assert.That(await databases.CountRowsAsync(), Is.Zero);
    }

    [Test]
    public async Task A_swallowed_error_on_one_of_two_connections_loses_its_rows_alone_and_the_scope_succeeds()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using (var scope = NewScope())
        {
            await using (var first = await OpenAsync(databases.Widgets))
            await using (var second = await OpenAsync(databases.Widgets))
            {
                await InsertAsync(first, id: 1);
                await InsertAsync(second, id: 2);
                await FailAsync(second);
            }

            scope.Complete();
        }

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1), "half of it");
            Assert.That(await databases.CountPreparedAsync(), Is.Zero);
        }
    }

    private static TransactionScope NewScope() => new(TransactionScopeAsyncFlowOption.Enabled);

    private static async Task<NpgsqlConnection> OpenAsync(string connectionString)
    {
        var connection = new NpgsqlConnection(connectionString);
        await connection.OpenAsync();
        return connection;
    }

    private static async Task InsertAsync(NpgsqlConnection connection, long id)
    {
        await using var insert = new NpgsqlCommand($"INSERT INTO widget (id, message_id) VALUES ({id}, '{Guid.NewGuid()}')", connection);
        await insert.ExecuteNonQueryAsync();
    }

    private static async Task FailAsync(NpgsqlConnection connection)
    {
        await using var division = new NpgsqlCommand("SELECT 1 / 0", connection);
        Assert.That(() => division.ExecuteScalarAsync(), Throws.TypeOf<PostgresException>());
    }

    /// <summary>Enlisted last, it prepares when the connections are prepared, and then has the server end the session of one.</summary>
    private sealed class TerminationInPrepare(string server) : IEnlistmentNotification
    {
        public int Process { get; set; }

        public bool HasFired { get; private set; }

        public void Prepare(PreparingEnlistment preparingEnlistment)
        {
            using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(server) { Enlist = false, Pooling = false });
            using var terminate = source.CreateCommand($"SELECT pg_terminate_backend({Process}, 25000)");
            HasFired = (bool)terminate.ExecuteScalar()!;
            preparingEnlistment.Prepared();
        }

        public void Commit(Enlistment enlistment) => enlistment.Done();

        public void Rollback(Enlistment enlistment) => enlistment.Done();

        public void InDoubt(Enlistment enlistment) => enlistment.Done();
    }
}
