// A message is marked as handled although what its handler sent could not be stored
//
// Versions: WolverineFx 6.62.0 and 6.64.0, PostgreSQL 15, .NET 10
//
// A handler without a transactional DbContext sends to a durable endpoint. Wolverine stores the send when the handler has returned. If the database refuses
// that in a few tries, within half a second, FlushOutgoingMessagesAsync logs "Unable to send an outgoing message" and goes on. The incoming message is
// marked as handled, the send is lost, and there is no dead letter.
//
// Expected: the message is not marked as handled: it is retried, and dead-lettered at the end.
//
// Output:
//
//     Expected: the send is stored, or the message is in the dead letters
//     Happened: 0 sends, 0 dead letters, the message's status: Handled
//
// Related: https://github.com/JasperFx/wolverine/issues/1683 (open) is the same for PublishAsync to durable local queues outside a handler.
//
// Run: dotnet run wolverine-drops-send.cs -- "Host=…;Username=…;Database=…"
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package Microsoft.Extensions.Hosting@10.0.15
#:package WolverineFx@6.62.0
#:package WolverineFx.Postgresql@6.62.0
#:package WolverineFx.RuntimeCompilation@6.62.0
#:property PublishAot=false

using JasperFx.Resources;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using Wolverine;
using Wolverine.Postgresql;

if (args is not [var database])
{
    Console.Error.WriteLine("Give a connection string.");
    return 2;
}

await using var source = NpgsqlDataSource.Create(database);
await source.CreateCommand("DROP SCHEMA IF EXISTS drops CASCADE").ExecuteNonQueryAsync();
var application = Host.CreateEmptyApplicationBuilder(settings: null);
application.Services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
{
    wolverine.UseRuntimeCompilation();
    wolverine.ApplicationAssembly = typeof(WorkHandler).Assembly;
    wolverine.Durability.Mode = DurabilityMode.Solo;
    wolverine.UsePostgresqlPersistenceAndTransport(database, "drops", "drops").AutoProvision();
    wolverine.ListenToPostgresqlQueue("work").UseDurableInbox();
    wolverine.PublishMessage<Work>().ToPostgresqlQueue("work");
    wolverine.PublishMessage<Result>().ToPostgresqlQueue("sink");
});
using var host = application.Build();
await host.SetupResources();
await host.StartAsync();
await source.CreateCommand(
    """
    CREATE FUNCTION drops.refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.message_type LIKE '%Result' THEN RAISE EXCEPTION 'The database refuses this.'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON drops.wolverine_outgoing_envelopes FOR EACH ROW EXECUTE FUNCTION drops.refuse();
    """).ExecuteNonQueryAsync();
await host.Services.GetRequiredService<IMessageBus>().SendAsync(new Work());

const string Incoming = "SELECT coalesce(min(status), 'none') FROM drops.wolverine_incoming_envelopes WHERE message_type LIKE '%Work'";
const string DeadLetters = "SELECT count(*) FROM drops.wolverine_dead_letters";
const string Sends =
    "SELECT (SELECT count(*) FROM drops.wolverine_queue_sink) + (SELECT count(*) FROM drops.wolverine_outgoing_envelopes WHERE message_type LIKE '%Result')";
for (var pause = 0; pause < 150 && await AskAsync(Incoming) is not "Handled" && await AskAsync(DeadLetters) is 0L; pause++)
    await Task.Delay(100);

var (status, sends, deadLetters) = (await AskAsync(Incoming), await AskAsync(Sends), await AskAsync(DeadLetters));
Console.WriteLine("Expected: the send is stored, or the message is in the dead letters");
Console.WriteLine($"Happened: {sends} sends, {deadLetters} dead letters, the message's status: {status}");
await host.StopAsync();
return status is "Handled" && sends is 0L && deadLetters is 0L ? 1 : 0;

async Task<object?> AskAsync(string question)
{
    await using var command = source.CreateCommand(question);
    return await command.ExecuteScalarAsync();
}

public sealed record Work;

public sealed record Result;

public static class WorkHandler
{
    public static Result Handle(Work message) => new();
}
