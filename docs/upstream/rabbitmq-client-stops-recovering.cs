// A connection that is lost again while RecoverySucceededAsync runs is never recovered
//
// Versions: RabbitMQ.Client 7.2.2, RabbitMQ 3.10, .NET 10
//
// The client recovers a lost connection, and awaits the handlers of RecoverySucceededAsync within its recovery task. If the connection is lost again before
// they have returned, the client begins no second recovery, because one is running; and the one that runs has already recovered. The connection stays
// closed. An application that opens its channels in that handler then receives nothing until it is restarted.
//
// Expected: the connection is recovered a second time.
//
// Output:
//
//     Expected: open again after the first loss and after the second
//     Happened: open again after the first loss, closed after the second
//
// Do not file it: https://github.com/rabbitmq/rabbitmq-dotnet-client/pull/2004 (merged after 7.2.2) mends this, by its text. The program tells when a release
// has it. https://github.com/rabbitmq/rabbitmq-dotnet-client/issues/1871 (open) may be the same. Searched in November 2026.
//
// Run: dotnet run rabbitmq-client-stops-recovering.cs -- amqp://user:password@host:5672/
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package RabbitMQ.Client@7.2.2
#:property PublishAot=false

using System.Net.Sockets;
using RabbitMQ.Client;

if (args is not [var broker])
{
    Console.Error.WriteLine("Give a broker's URI.");
    return 2;
}

Socket socket = null!;
var factory = new ConnectionFactory
{
    Uri = new Uri(broker),
    NetworkRecoveryInterval = TimeSpan.FromMilliseconds(50),
    // As the client's own, but the program can cut the connection.
    SocketFactory = family => new TcpClientAdapter(socket = new Socket(family, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true }),
};
await using var connection = await factory.CreateConnectionAsync();
var (first, second) = (new TaskCompletionSource(), new TaskCompletionSource());
connection.ConnectionShutdownAsync += (_, _) =>
{
    _ = first.TrySetResult() || second.TrySetResult();
    return Task.CompletedTask;
};
var recovered = new TaskCompletionSource();
connection.RecoverySucceededAsync += async (_, _) =>
{
    if (recovered.Task.IsCompleted)
        return;
    socket.Shutdown(SocketShutdown.Both);
    await second.Task;
    recovered.SetResult();
};

socket.Shutdown(SocketShutdown.Both);
await recovered.Task;
for (var pause = 0; pause < 40 && !connection.IsOpen; pause++)
    await Task.Delay(factory.NetworkRecoveryInterval);

Console.WriteLine("Expected: open again after the first loss and after the second");
Console.WriteLine($"Happened: open again after the first loss, {(connection.IsOpen ? "open" : "closed")} after the second");
return connection.IsOpen ? 0 : 1;
