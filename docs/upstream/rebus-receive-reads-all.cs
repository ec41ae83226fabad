// A receive reads all messages of the table
//
// Versions: Rebus.PostgreSql 9.1.1, Rebus 8.9.5, Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// The transport receives with DELETE … WHERE id = (SELECT id … LIMIT 1). No index of the table begins with id: the primary key is (recipient, priority, id),
// idx_receive begins with recipient, idx_dequeue with priority. So PostgreSQL finds the row of the DELETE in a scan of the whole table or of a whole index,
// and each receive costs more the more messages there are, in all queues of the table.
//
// Expected: a receive reads a few pages, whatever the number of messages.
//
// Output:
//
//     Expected: at most 20 pages for a receive of 100,000 messages
//     Happened: more than 20 pages; at most 20 with an index on (id)
//
// Related: https://github.com/rebus-org/Rebus.PostgreSql/issues/38 (open).
//
// Run: dotnet run rebus-receive-reads-all.cs -- "Host=…;Username=…;Database=…"
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package Npgsql@10.0.3
#:package Rebus@8.9.5
#:package Rebus.PostgreSql@9.1.1
#:property PublishAot=false

using System.Text.Json;
using Npgsql;
using Rebus.Config;

if (args is not [var database])
{
    Console.Error.WriteLine("Give a connection string.");
    return 2;
}

// As the transport receives, in PostgresqlTransport.cs.
const string Receive =
    """
    DELETE FROM messages
    WHERE id =
    (
        SELECT id FROM messages
        WHERE recipient = 'orders' AND visible < now() AND expiration > now()
        ORDER BY priority DESC, visible ASC, id ASC
        FOR UPDATE SKIP LOCKED
        LIMIT 1
    )
    RETURNING id, headers, body
    """;
const string Fill =
    """
    INSERT INTO messages (recipient, priority, expiration, visible, headers, body)
    SELECT 'orders', 0, now() + interval '1 day', now(), convert_to(repeat('h', 300), 'UTF8'), '{}' FROM generate_series(1, 100000)
    """;
const int Few = 20;

await using var source = NpgsqlDataSource.Create(database);
await source.CreateCommand("DROP TABLE IF EXISTS messages").ExecuteNonQueryAsync();
using (Configure.OneWayClient().Logging(log => log.None()).Transport(table => table.UsePostgreSqlAsOneWayClient(database, "messages")).Start())
{
}

await source.CreateCommand(Fill).ExecuteNonQueryAsync();
await source.CreateCommand("VACUUM ANALYZE messages").ExecuteNonQueryAsync();
var pages = await CountPagesAsync();
await source.CreateCommand("CREATE INDEX ON messages (id)").ExecuteNonQueryAsync();
var pagesWithIndex = await CountPagesAsync();

Console.WriteLine($"Expected: at most {Few} pages for a receive of 100,000 messages");
Console.WriteLine($"Happened: {InWords(pages)} pages; {InWords(pagesWithIndex)} with an index on (id)");
return pages > Few ? 1 : 0;

static string InWords(long pages) => pages > Few ? $"more than {Few}" : $"at most {Few}";

async Task<long> CountPagesAsync()
{
    await using var explain = source.CreateCommand($"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {Receive}");
    using var plan = JsonDocument.Parse((string)(await explain.ExecuteScalarAsync())!);
    var root = plan.RootElement[0].GetProperty("Plan");
    return root.GetProperty("Shared Hit Blocks").GetInt64() + root.GetProperty("Shared Read Blocks").GetInt64();
}
