using Kit.Endpoints.Bare.Outbox;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>A search of the outbox that finds a send, while handlers use the connections of the same pool.</summary>
[Parallelizable]
public sealed class SearchBesideAHandler
{
    private const int Rows = 10_000;

    /// <summary>The driver reuses a reader for the next user of its connection. A search that ended its own twice would end a handler's.</summary>
    [Test]
    public async Task Leaves_the_reader_of_the_connections_next_user_alone()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var pool = NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(databases.Widgets) { Pooling = true, MaxPoolSize = 2 }.ConnectionString);
        var outbox = new OutboxStore(pool, OutboxBench.Endpoint, TransactionMode.Outbox.Isolation, retention: null) { IsFlushed = true };
        await outbox.CreateAsync(CancellationToken.None);
        await TestDatabases.ExecuteAsync(
            databases.Widgets,
            """
            INSERT INTO orders_inbox (message_id) VALUES (gen_random_uuid());
            INSERT INTO orders_outbox (causation_id, position, message_id, queue, type, body)
            SELECT message_id, 0, message_id, 'sink', 'T', '' FROM orders_inbox
            """);

        // The search waits for the table with one connection of the two. Somebody has the other one, and a handler waits for the first that is free.
        await using var holder = new NpgsqlConnection(databases.Widgets);
        await holder.OpenAsync();
        await using var held = await holder.BeginTransactionAsync();
        await using (var hold = new NpgsqlCommand("LOCK TABLE orders_outbox", holder))
            await hold.ExecuteNonQueryAsync();
        var other = await pool.OpenConnectionAsync();
        var search = outbox.ReadWaitingAsync(Guid.Empty, [], 10, CancellationToken.None);
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                databases.Widgets,
                "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1,
            "the search waits for the table");
        var begun = new TaskCompletionSource();
        var handler = ReadAsync();
        await held.CommitAsync();
        await begun.Task.WaitAsync(Eventually.Limit);
        await other.DisposeAsync();

        Assert.That(await search, Has.Count.EqualTo(1));
        Assert.That(await handler, Is.EqualTo(Rows));

        // All rows, the last ones after the search has ended.
        async Task<int> ReadAsync()
        {
            await using var connection = await pool.OpenConnectionAsync();
            await using var command = new NpgsqlCommand($"SELECT generate_series(1, {Rows})", connection);
            await using var reader = await command.ExecuteReaderAsync();
            var read = 0;
            while (await reader.ReadAsync())
            {
                if (++read > 1)
                    continue;

                begun.SetResult();
                await search;
            }

            return read;
        }
    }
}
