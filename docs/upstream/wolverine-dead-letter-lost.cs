// A message is acknowledged although the broker has refused its dead letter
//
// Versions: WolverineFx.RabbitMQ 6.62.0, RabbitMQ 3.10, .NET 10
//
// An inline listener with EnableEnhancedDeadLettering publishes a message that it gives up to its dead letter queue, with the exception in headers. If the
// broker refuses that publish (here the queue is full and rejects), although publishes are confirmed, the message is acknowledged all the same: it is in no
// queue.
//
// Expected: the message is not acknowledged, and is delivered again.
//
// Output:
//
//     Expected: the message is in a queue
//     Happened: 0 in the queue, 0 in the dead letter queue
//
// Run: dotnet run wolverine-dead-letter-lost.cs -- amqp://user:password@host:5672/
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package Microsoft.Extensions.Hosting@10.0.15
#:package WolverineFx@6.62.0
#:package WolverineFx.RabbitMQ@6.62.0
#:package WolverineFx.RuntimeCompilation@6.62.0
#:property PublishAot=false

using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using RabbitMQ.Client;
using Wolverine;
using Wolverine.ErrorHandling;
using Wolverine.RabbitMQ;

if (args is not [var broker])
{
    Console.Error.WriteLine("Give a broker's URI.");
    return 2;
}

await using var connection = await new ConnectionFactory { Uri = new Uri(broker) }.CreateConnectionAsync();
await using var channel = await connection.CreateChannelAsync();
await channel.QueueDeclareAsync("letters", durable: true, exclusive: false, autoDelete: false);
await channel.ExchangeDeclareAsync("letters-dead", "fanout", durable: true);
await channel.QueueDeclareAsync(
    "letters-dead", durable: true, exclusive: false, autoDelete: false,
    new Dictionary<string, object?> { ["x-max-length"] = 0, ["x-overflow"] = "reject-publish" });
await channel.QueueBindAsync("letters-dead", "letters-dead", "");

var application = Host.CreateEmptyApplicationBuilder(settings: null);
application.Services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
{
    wolverine.UseRuntimeCompilation();
    wolverine.ApplicationAssembly = typeof(LetterHandler).Assembly;
    wolverine.Durability.Mode = DurabilityMode.Solo;
    wolverine.UseRabbitMq(new Uri(broker))
        .ConfigureChannelCreation(created => (created.PublisherConfirmationsEnabled, created.PublisherConfirmationTrackingEnabled) = (true, true))
        .EnableEnhancedDeadLettering()
        .CustomizeDeadLetterQueueing(new DeadLetterQueue("letters-dead"));
    wolverine.ListenToRabbitQueue("letters").ProcessInline();
    wolverine.PublishMessage<Letter>().ToRabbitQueue("letters");
    wolverine.OnAnyException().MoveToErrorQueue();
});
using var host = application.Build();
await host.StartAsync();
await host.Services.GetRequiredService<IMessageBus>().SendAsync(new Letter());
await LetterHandler.Called;
await Task.Delay(3_000);
await host.StopAsync();

var (waiting, dead) = (await channel.MessageCountAsync("letters"), await channel.MessageCountAsync("letters-dead"));
Console.WriteLine("Expected: the message is in a queue");
Console.WriteLine($"Happened: {waiting} in the queue, {dead} in the dead letter queue");
return waiting + dead == 0 ? 1 : 0;

public sealed record Letter;

public static class LetterHandler
{
    private static readonly TaskCompletionSource First = new();

    public static Task Called => First.Task;

    public static void Handle(Letter message)
    {
        First.TrySetResult();
        throw new InvalidOperationException("As the program wants.");
    }
}
