using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.TwoPhase;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>A mode that cannot be had is refused before the first message, never lowered to a weaker one.</summary>
[Parallelizable]
public sealed class ServerLacksWhatTheModeNeeds
{
    [Test]
    public async Task Shared_with_queue_and_data_in_two_databases_is_refused()
    {
        await using var bench = await BareBench.CreateAsync();
        using var host = bench.Build(TransactionMode.Shared, (_, _) => Task.CompletedTask, bench.Databases.Queue);

        await Assert.ThatAsync(() => host.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("must be in one database"));
    }

    [TestCase("its queue")]
    [TestCase("its handlers' data")]
    public async Task A_database_that_does_not_exist_is_named_with_what_wanted_it(string of)
    {
        await using var bench = await BareBench.CreateAsync();
        var (queue, data) = (bench.Databases.Queue, bench.Databases.Widgets);
        var wrong = new NpgsqlConnectionStringBuilder(queue) { Database = "nowhere" }.ConnectionString;
        using var host = bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask, of == "its queue" ? data : wrong, queue: of == "its queue" ? wrong : queue);

        await Assert.ThatAsync(
            () => host.StartAsync(),
            Throws.InstanceOf<NpgsqlException>().With.Message.StartsWith($"Endpoint 'work' cannot connect to the database of {of} (Host=")
                .And.Message.Contains("Database=nowhere;").And.Message.Contains("does not exist").And.Message.Not.Contains("Password"));
    }

    [Test]
    public async Task No_prepared_transactions_are_refused_with_what_to_set()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM SET max_prepared_transactions = 0");
        await server.StopImmediatelyAsync(CancellationToken.None);
        await server.RestartAsync(CancellationToken.None);
        await using var bench = await BareBench.CreateAsync(server.ConnectionString);
        using var host = bench.Build(TransactionMode.FullDtc, (_, _) => Task.CompletedTask);

        await Assert.ThatAsync(() => host.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("ALTER SYSTEM SET max_prepared_transactions"));
    }

    [TestCase("full-dtc", "its queue")]
    [TestCase("full-dtc-waiting", "its handlers' data")]
    public async Task Pools_smaller_than_the_concurrency_are_refused(string mode, string of)
    {
        await using var bench = await TwoPhaseBench.CreateAsync();
        var small = (string connection) => new NpgsqlConnectionStringBuilder(connection) { MaxPoolSize = 3 }.ConnectionString;
        var (queue, data) = (bench.Databases.Queue, bench.Databases.Widgets);

        await Assert.ThatAsync(
            () => bench.StartAsync(
                TransactionMode.Parse(mode),
                4,
                TwoPhaseBench.InsertAsync,
                of == "its queue" ? small(queue) : queue,
                of == "its queue" ? data : small(data)),
            Throws.InvalidOperationException.With.Message.Contains($"a Maximum Pool Size of at least 4 in the connection string of {of}, found 3"));
    }
}
