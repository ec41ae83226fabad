// What a handler has sent goes out although the handler fails, when the message is moved to the error queue
//
// Versions: Rebus.PostgreSql 9.1.1, Rebus 8.9.5 and 8.10.0, Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// A handler sends a message and then throws, at each attempt. After the last one Rebus moves the message to the error queue and ends the transaction context
// with commit: false, ack: true. The transport writes sends and receive on one connection, and commits it at OnAck, although commit is false; the dead letter
// has a scope of its own. So the sends of the last attempt go out. With ErrorHandlerMode.NextDelivery they do not, because the last attempt is rolled back.
//
// Expected: the sends of a failed attempt do not go out, as with the in-memory transport.
//
// Output:
//
//     Expected: 0 sends, 1 message in the error queue
//     Happened: 1 send(s), 1 message(s) in the error queue
//
// Related: https://github.com/rebus-org/Rebus.PostgreSql/issues/53 (open) is this defect. To add there: the cause, NextDelivery, and a smaller program.
//
// Run: dotnet run rebus-failed-handler-sends.cs -- "Host=…;Username=…;Database=…"
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package Npgsql@10.0.3
#:package Rebus@8.9.5
#:package Rebus.PostgreSql@9.1.1
#:property PublishAot=false

using Npgsql;
using Rebus.Activation;
using Rebus.Config;
using Rebus.Retry.Simple;

if (args is not [var database])
{
    Console.Error.WriteLine("Give a connection string.");
    return 2;
}

await using var source = NpgsqlDataSource.Create(database);
await source.CreateCommand("DROP TABLE IF EXISTS messages").ExecuteNonQueryAsync();
using var activator = new BuiltinHandlerActivator();
activator.Handle<string>(async (bus, message) =>
{
    await bus.Advanced.Routing.Send("sink", "sent by the handler");
    throw new InvalidOperationException("The handler fails.");
});
var bus = Configure.With(activator)
    .Logging(logging => logging.None())
    .Transport(transport => transport.UsePostgreSql(database, "messages", "work"))
    .Options(options => options.RetryStrategy("errors", maxDeliveryAttempts: 3))
    .Start();
await bus.SendLocal("handle this");
for (var pause = 0; pause < 100 && await CountAsync("errors") == 0; pause++)
    await Task.Delay(100);

var (sends, errors) = (await CountAsync("sink"), await CountAsync("errors"));
Console.WriteLine("Expected: 0 sends, 1 message in the error queue");
Console.WriteLine($"Happened: {sends} send(s), {errors} message(s) in the error queue");
return sends == 0 ? 0 : 1;

async Task<long> CountAsync(string queue)
{
    await using var count = source.CreateCommand($"SELECT count(*) FROM messages WHERE recipient = '{queue}'");
    return (long)(await count.ExecuteScalarAsync())!;
}
