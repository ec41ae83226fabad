using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Kit.Tests.Bare;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>
/// A server that crashes before it has flushed anything of a transaction, assigns the transaction's id again. Then the id belongs to one that has committed.
/// </summary>
[Parallelizable]
public sealed class ServerForgetsATransaction
{
    private const string Sink = "built";
    private const int Size = 3;

    private PrivatePostgreSql server = null!;

    private string Unpooled => new NpgsqlConnectionStringBuilder(server.ConnectionString) { Pooling = false }.ConnectionString;

    [OneTimeSetUp]
    public async Task StartServer()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        // Nothing else uses up ids, or flushes them.
        await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM SET autovacuum = off");
        await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM SET wal_writer_delay = '10s'");
        await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM SET bgwriter_delay = '10s'");
        // Else it logs what is running for a standby each 15 s, with the next id.
        await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM SET wal_level = minimal");
        await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM SET max_wal_senders = 0");
        await server.RestartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServer()
    {
        if (server is not null)
            await server.DisposeAsync();
    }

    /// <param name="isOfOneProcess">Whether one process of the server is killed, so that the server recovers without a new start.</param>
    [Test]
    public async Task The_rest_of_a_batch_in_shared_is_not_put_back_a_second_time([Values] bool isOfOneProcess)
    {
        await using var bench = await BareBench.CreateAsync(Unpooled);
        var ids = Enumerable.Range(0, 2 * Size).Select(_ => Guid.CreateVersion7()).ToList();
        await bench.QueueOf(TransactionMode.Shared).EnqueueAsync(
            ids.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        var (hasCrashed, isAssignedAgain, handled) = (false, false, new ConcurrentDictionary<Guid, bool>());
        using var host = bench.Build(
            TransactionMode.Shared,
            async (context, cancellationToken) =>
            {
                await BareBench.InsertWidgetAsync(context, cancellationToken);
                handled[context.MessageId] = true;
                // The second of the batch that follows the single ones.
                if (hasCrashed || context.MessageId != ids[Size + 1])
                    return;

                hasCrashed = true;
                isAssignedAgain = await CrashAsync(isOfOneProcess);
                await BareBench.InsertWidgetAsync(context, cancellationToken);
            },
            configure: endpoint => endpoint.ReceiveInBatches(Size));
        await host.StartAsync();

        await Eventually.HoldsAsync(() => handled.Count == ids.Count, "all are handled");
        await Eventually.HoldsAsync(async () => await bench.QueueOf(TransactionMode.Shared).CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(isAssignedAgain, "the id of the receive is assigned again");
        var rows = await bench.Databases.ReadRowsByMessageAsync();
        Assert.That(rows.Keys, Is.EquivalentTo(ids));
        Assert.That(rows.Values, Is.All.EqualTo(1));
    }

    /// <inheritdoc cref="The_rest_of_a_batch_in_shared_is_not_put_back_a_second_time" path="/param"/>
    [Test]
    public async Task What_the_outbox_dispatched_with_the_receive_is_sent_again([Values] bool isOfOneProcess)
    {
        await using var bench = await OutboxBench.CreateAsync("postgresql", Unpooled);
        var rows = await TestDatabases.CreateAsync();
        try
        {
            var sink = bench.OpenQueue(Sink);
            await sink.CreateAsync(CancellationToken.None);
            var through = new NpgsqlConnectionStringBuilder(bench.Databases.Queue);
            await using var proxy = new FaultProxy(through.Host!, through.Port);
            (through.Host, through.Port) = ("127.0.0.1", proxy.Port);
            using var endpoint = bench.Build(message => [(Sink, message)], queues: through.ConnectionString, widgets: rows.Widgets);
            await endpoint.StartAsync();
            var parked = await ParkedCommit.PrepareAsync(bench.Databases.Queue, Sink, "INSERT");
            var message = Guid.CreateVersion7();
            await bench.SendAsync(message);
            await Eventually.HoldsAsync(parked.IsReachedAsync, "the receive commits");

            proxy.RefuseConnections();
            Assert.That(await CrashAsync(isOfOneProcess), "the id of the receive is assigned again");
            await parked.EndAsync(commits: true);
            proxy.AcceptConnections();
            await Eventually.HoldsAsync(async () => await sink.CountAsync(CancellationToken.None) > 0, "what it sent arrives");
            await bench.DrainedAsync();
            await endpoint.StopAsync();

            Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.All.EqualTo(message));
            Assert.That(bench.Entered, Is.EqualTo(1));
        }
        finally
        {
            await rows.DisposeAsync();
        }
    }

    /// <summary>Crashes the server while one transaction has an id, and lets another one commit with it.</summary>
    /// <returns>Whether the server has assigned it again.</returns>
    private async Task<bool> CrashAsync(bool isOfOneProcess)
    {
        var id = await TestDatabases.ScalarAsync(Unpooled, "SELECT max(backend_xid::text::int) FROM pg_stat_activity");
        if (isOfOneProcess)
        {
            await KillOneAsync();
        }
        else
        {
            await server.StopImmediatelyAsync(CancellationToken.None);
            await server.RestartAsync(CancellationToken.None);
        }

        var next = 0;
        while (next < id)
            next = await TestDatabases.ScalarAsync(Unpooled, "SELECT pg_current_xact_id()::text::int");
        return next == id;
    }

    private async Task KillOneAsync()
    {
        await using var killed = new NpgsqlConnection(Unpooled);
        await killed.OpenAsync();
        await using var witness = new NpgsqlConnection(Unpooled);
        await witness.OpenAsync();
        using (var process = Process.GetProcessById(killed.ProcessID))
            process.Kill();
        // The server ends all others, before it recovers.
        await using var ask = new NpgsqlCommand("SELECT pg_sleep(3600)", witness) { CommandTimeout = 0 };
        Assert.That(() => ask.ExecuteNonQueryAsync(), Throws.InstanceOf<NpgsqlException>());
        await Eventually.HoldsAsync(AnswersAsync, "the server has recovered");
    }

    private async Task<bool> AnswersAsync()
    {
        try
        {
            return await TestDatabases.ScalarAsync(Unpooled, "SELECT 1") == 1;
        }
        catch (NpgsqlException)
        {
            return false;
        }
    }
}
