using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Runner.Stage.SqlServer;
using Microsoft.Data.SqlClient;

namespace Kit.Tests.SqlServer;

/// <summary>The databases of a run on a SQL Server that is named.</summary>
public sealed class DatabasesOnSqlServer
{
    [TestCaseSource(typeof(SqlServerServer), nameof(SqlServerServer.Cases))]
    public async Task A_round_begins_with_the_seeded_rows_and_leaves_nothing_behind(string server)
    {
        var before = await DatabasesAsync(server);
        await using (var databases = new SqlServerDatabases(server))
        {
            await databases.SeedAsync(25_000, new Progress<int>(), CancellationToken.None);
            foreach (var _ in Enumerable.Range(0, 2))
            {
                await using var round = await databases.RestoreAsync(CancellationToken.None);
                await round.SettleAsync(new Cell(new BareOnSqlServer(), TransactionMode.FullDtcPromoted), CancellationToken.None);
                Assert.That(await round.CountAsync(CancellationToken.None), Is.EqualTo(25_000));
                Assert.That(await round.ReadBuiltAsync(withCommitTime: false, CancellationToken.None), Is.Empty);
            }
        }

        Assert.That(await DatabasesAsync(server), Is.EqualTo(before));
    }

    [TestCaseSource(typeof(SqlServerServer), nameof(SqlServerServer.Cases))]
    public async Task A_database_of_a_process_that_runs_is_left_alone(string server)
    {
        var name = $"{DatabaseOwner.NamePrefix}{Guid.NewGuid():N}";
        await SqlServerOwner.CreateAsync(server, name, CancellationToken.None);
        try
        {
            await SqlServerOwner.RemoveLeftoversAsync(server, CancellationToken.None);

            Assert.That(await DatabasesAsync(server), Does.Contain(name));
        }
        finally
        {
            await SqlServerOwner.DropAsync(server, name, CancellationToken.None);
        }
    }

    [Test]
    public void They_have_the_settings_that_the_report_names_whatever_the_servers_defaults_are() => Assert.That(
        SqlServerDatabases.Settings, Is.SupersetOf(new[] { "RECOVERY SIMPLE", "DELAYED_DURABILITY = DISABLED", "READ_COMMITTED_SNAPSHOT OFF" }));

    [TestCaseSource(typeof(SqlServerServer), nameof(SqlServerServer.Cases))]
    public async Task A_probe_begins_with_an_empty_table(string server)
    {
        await using var databases = new SqlServerDatabases(server);
        await using var scratch = await databases.CreateEmptyAsync(CancellationToken.None);

        Assert.That(await scratch.CountAsync(CancellationToken.None), Is.Zero);
        await using var queue = new BareOnSqlServer().OpenQueue("probe", scratch.WidgetsForRunner);
        await queue.CreateAsync(CancellationToken.None);
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    [TestCaseSource(typeof(SqlServerServer), nameof(SqlServerServer.Cases))]
    public async Task What_an_endpoint_leaves_in_the_pool_is_not_lent_for_the_next_database_of_the_name(string server)
    {
        await using var databases = new SqlServerDatabases(server);
        for (var probe = 0; probe < 3; probe++)
        {
            await using var scratch = await databases.CreateEmptyAsync(CancellationToken.None);
            // Otherwise the driver replaces some sessions that it finds dead.
            var endpoint = new SqlConnectionStringBuilder(scratch.WidgetsForEndpoint) { ConnectRetryCount = 0 };
            await using var pooled = new SqlConnection(endpoint.ConnectionString);
            await pooled.OpenAsync();
            await using var count = new SqlCommand("SELECT count(*) FROM dbo.widget", pooled);

            Assert.That(await count.ExecuteScalarAsync(), Is.Zero);
        }
    }

    private static async Task<IReadOnlyList<string>> DatabasesAsync(string server)
    {
        await using var connection = await SqlServerConnections.OpenAsync(server, CancellationToken.None);
        return await connection.ReadAsync("SELECT name FROM sys.databases ORDER BY name", row => row.GetString(0), CancellationToken.None);
    }
}
