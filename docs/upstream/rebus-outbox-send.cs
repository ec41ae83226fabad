// The outbox commits the handler's rows, then fails to store what the handler sends
//
// Versions: Rebus.PostgreSql 9.1.1, Rebus 8.9.5 and 8.10.0, Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// With .Outbox(o => o.StoreInPostgreSql(…)) a handler that works on the outbox's connection and sends a message always fails: "Transaction is already
// completed". OutboxIncomingStep registers its OnCommit, which commits the transaction, before OutboxClientTransportDecorator.Send registers the one that
// stores the sends. Npgsql 10 refuses work in a transaction that has ended. The rows of each attempt stay, the message ends in the error queue, and its
// send is lost. On Npgsql 8 the sends are stored, but outside the transaction with the rows.
//
// Expected: rows and sends are stored in one transaction, and each is there once.
//
// Output:
//
//     Expected: 1 row, 1 send, 0 messages in the error queue
//     Happened: 3 row(s), 0 send(s), 1 message(s) in the error queue
//
// Related: https://github.com/rebus-org/Rebus.PostgreSql/issues/53 (open) is about sends of a handler that fails.
//
// Run: dotnet run rebus-outbox-send.cs -- "Host=…;Username=…;Database=…"
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package Npgsql@10.0.3
#:package Rebus@8.9.5
#:package Rebus.PostgreSql@9.1.1
#:property PublishAot=false

using Npgsql;
using Rebus.Activation;
using Rebus.Config;
using Rebus.Config.Outbox;
using Rebus.PostgreSql.Outbox;
using Rebus.Retry.Simple;

if (args is not [var database])
{
    Console.Error.WriteLine("Give a connection string.");
    return 2;
}

await using var source = NpgsqlDataSource.Create(database);
await source.CreateCommand("DROP TABLE IF EXISTS inserted, messages, outbox; CREATE TABLE inserted (id int)").ExecuteNonQueryAsync();
using var activator = new BuiltinHandlerActivator();
activator.Handle<string>(async (bus, context, message) =>
{
    var outbox = (OutboxConnection)context.TransactionContext.Items["current-outbox-connection"];
    await using (var insert = new NpgsqlCommand("INSERT INTO inserted VALUES (1)", outbox.Connection))
        await insert.ExecuteNonQueryAsync();
    await bus.Advanced.Routing.Send("sink", "sent by the handler");
});
var bus = Configure.With(activator)
    .Logging(logging => logging.None())
    .Transport(transport => transport.UsePostgreSql(database, "messages", "work"))
    .Outbox(outbox => outbox.StoreInPostgreSql(database, "outbox"))
    .Options(options => options.RetryStrategy("errors", maxDeliveryAttempts: 3))
    .Start();
await bus.SendLocal("handle this");
for (var pause = 0; pause < 100 && await CountAsync("messages WHERE recipient IN ('sink', 'errors')") == 0; pause++)
    await Task.Delay(100);

var (rows, sends) = (await CountAsync("inserted"), await CountAsync("messages WHERE recipient = 'sink'"));
var errors = await CountAsync("messages WHERE recipient = 'errors'");
Console.WriteLine("Expected: 1 row, 1 send, 0 messages in the error queue");
Console.WriteLine($"Happened: {rows} row(s), {sends} send(s), {errors} message(s) in the error queue");
return (rows, sends, errors) == (1, 1, 0) ? 0 : 1;

async Task<long> CountAsync(string what)
{
    await using var count = source.CreateCommand($"SELECT count(*) FROM {what}");
    return (long)(await count.ExecuteScalarAsync())!;
}
