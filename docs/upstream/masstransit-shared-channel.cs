// A send that the broker refuses fails the sends of other consumers' messages
//
// Versions: MassTransit.RabbitMQ 8.5.12, RabbitMQ 3.10, .NET 10. Version 9 needs a licence, and was not tried.
//
// All consumers of a receive endpoint send on one channel, the one on which the endpoint receives. If the broker refuses a publish with a channel error (a
// message above max_message_size, a wrong property), it closes the channel, and each send that waits for its confirm there ends with
// OperationCanceledException. The send's retry policy does not handle that one (it handles AlreadyClosedException and OperationInterruptedException). The
// consumers of other messages fail for it, and all unacknowledged messages of the endpoint are delivered again.
//
// Expected: only the send that the broker refuses fails; the retry policy sends the others again on a new channel.
//
// Output:
//
//     Expected: 1 of 30 consumers fails
//     Happened: more than 1 of 30 consumers fail
//
// Run: dotnet run masstransit-shared-channel.cs -- amqp://user:password@host:5672/
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package MassTransit.RabbitMQ@8.5.12
#:property PublishAot=false

using MassTransit;
using Reproduction;

if (args is not [var broker])
{
    Console.Error.WriteLine("Give a broker's URI.");
    return 2;
}

var bus = Bus.Factory.CreateUsingRabbitMq(configure =>
{
    configure.Host(new Uri(broker));
    configure.ReceiveEndpoint(endpoint =>
    {
        endpoint.PrefetchCount = Work.Messages;
        endpoint.Consumer<WorkConsumer>();
    });
});
await bus.StartAsync();
for (var number = 1; number <= Work.Messages; number++)
    await bus.Publish(new Work(number));
var failed = await WorkConsumer.Failed;
await bus.StopAsync();
Console.WriteLine($"Expected: 1 of {Work.Messages} consumers fails");
Console.WriteLine($"Happened: {(failed > 1 ? "more than 1" : $"{failed}")} of {Work.Messages} consumers fail");
return failed > 1 ? 1 : 0;

namespace Reproduction
{
    public sealed record Work(int Number)
    {
        public const int Messages = 30;
    }

    public sealed record Result(int Number);

    public sealed class WorkConsumer : IConsumer<Work>
    {
        private static readonly TaskCompletionSource AllHaveBegun = new();
        private static readonly TaskCompletionSource<int> AllHaveEnded = new();
        private static int begun, failed, ended;

        public static Task<int> Failed => AllHaveEnded.Task;

        public async Task Consume(ConsumeContext<Work> context)
        {
            if (Interlocked.Increment(ref begun) == Work.Messages)
                AllHaveBegun.SetResult();
            await AllHaveBegun.Task;
            try
            {
                await context.Send(new Uri("queue:sink"), new Result(context.Message.Number), send =>
                {
                    // The broker refuses this with PRECONDITION_FAILED.
                    if (context.Message.Number == Work.Messages)
                        ((RabbitMqSendContext)send).BasicProperties.Expiration = "-1";
                });
            }
            catch
            {
                Interlocked.Increment(ref failed);
                throw;
            }
            finally
            {
                if (Interlocked.Increment(ref ended) == Work.Messages)
                    AllHaveEnded.TrySetResult(failed);
            }
        }
    }
}
