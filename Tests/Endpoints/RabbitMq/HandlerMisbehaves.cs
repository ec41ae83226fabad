using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.RabbitMq;

/// <summary>What handlers do that a mode must not take for success.</summary>
[Parallelizable]
public sealed class HandlerMisbehaves
{
    /// <summary>All but the outbox, in which a message is done when its handler has committed.</summary>
    private static IEnumerable<TransactionMode> Modes =>
        TransactionMode.All.Where(mode => RabbitMqSupport.Of(mode).IsSupported && mode != TransactionMode.Outbox);

    [TestCaseSource(nameof(Modes))]
    public async Task A_send_to_a_queue_that_does_not_exist_fails_the_attempt(TransactionMode mode)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        await using var queue = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "work");
        await queue.CreateAsync(CancellationToken.None);
        await queue.EnqueueAsync([OutgoingMessage.Create("work", new Todo())], CancellationToken.None);

        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddBareEndpoint("work", endpoint => endpoint
            .UseRabbitMq(broker.Address, databases.Widgets)
            .UseTransactionMode(mode)
            .Handle<Todo, TodoHandler>());
        using var built = host.Build();
        await built.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await built.StopAsync();

        var error = (await queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(error, Has.Property("FailedAttempts").EqualTo(mode.Attempts).And.Property("Reason").Contains("NO_ROUTE"));
    }

    internal sealed record Todo;

    private sealed class TodoHandler : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) =>
            context.SendAsync("nowhere", message, cancellationToken: cancellationToken);
    }
}
