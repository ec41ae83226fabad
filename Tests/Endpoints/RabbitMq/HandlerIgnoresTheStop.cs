using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Tests.Bare;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Tests.RabbitMq;

/// <summary>The host no longer waits, and a handler goes on.</summary>
[Parallelizable]
public sealed class HandlerIgnoresTheStop
{
    private static IEnumerable<TransactionMode> Modes => TransactionMode.All.Where(mode => RabbitMqSupport.Of(mode).IsSupported);

    [TestCaseSource(nameof(Modes))]
    public async Task The_endpoint_names_its_message_and_gives_back_what_it_holds(TransactionMode mode)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        await using var queue = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "work");
        await queue.CreateAsync(CancellationToken.None);
        var ids = new[] { Guid.CreateVersion7(), Guid.CreateVersion7() };
        await queue.EnqueueAsync(ids.Select(id => OutgoingMessage.Create("work", new Todo(), id)), CancellationToken.None);
        var (inHandler, hostHasStopped, returned) = (new TaskCompletionSource(), new TaskCompletionSource(), new TaskCompletionSource());
        using var warnings = new WarningsOfAHost();
        using (var host = Build(async (context, cancellationToken) =>
        {
            await BareBench.InsertWidgetAsync(context, cancellationToken);
            inHandler.SetResult();
            await hostHasStopped.Task;
            returned.SetResult();
        }))
        {
            await host.StartAsync();
            await inHandler.Task.WaitAsync(Eventually.Limit);
            // What is pushed without acknowledgements has left the queue. The second message must reach the endpoint while the host waits.
            var isRemoved = mode == TransactionMode.TransactionsOff;
            if (isRemoved)
                await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "both are pushed");

            using var patience = new CancellationTokenSource(isRemoved ? TimeSpan.FromSeconds(3) : TimeSpan.FromMilliseconds(200));
            var stopping = host.StopAsync(patience.Token);
            if (await Task.WhenAny(stopping, Task.Delay(TimeSpan.FromMinutes(1))) != stopping)
                hostHasStopped.SetResult();
            await stopping;
            Assert.That(hostHasStopped.Task.IsCompleted, Is.False, "the stop waits for the handler");
        }

        // They were published side by side, so either can be the first.
        Assert.That(ids.Sum(id => warnings.Count($"{id} ({typeof(Todo).FullName})")), Is.EqualTo(1), warnings.ToString());
        var isBack = mode != TransactionMode.TransactionsOff;
        Assert.That(warnings.Count("1 messages are lost"), Is.EqualTo(isBack ? 0 : 1), "those that the broker had pushed and nobody had begun");
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == (isBack ? 2 : 0), "both are in the queue again");

        hostHasStopped.SetResult();
        await returned.Task;
        var attempts = new List<int>();
        using (var next = Build(async (context, cancellationToken) =>
        {
            attempts.Add(context.Attempt);
            await BareBench.InsertWidgetAsync(context, cancellationToken);
        }))
        {
            await next.StartAsync();
            await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
            await next.StopAsync();
        }

        Assert.That(attempts, Is.EqualTo(isBack ? [1, 1] : Array.Empty<int>()), "received again, and no attempt was counted");
        var ofTheFirst = mode == TransactionMode.ScopeOff || mode == TransactionMode.TransactionsOff ? 1 : 0;
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(attempts.Count + ofTheFirst), "nothing of the first handling has committed later");
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);

        IHost Build(Work work)
        {
            var builder = Host.CreateEmptyApplicationBuilder(settings: null);
            builder.Services.AddSingleton(work).AddLogging(log => log.AddProvider(warnings)).AddBareEndpoint("work", endpoint => endpoint
                .UseRabbitMq(broker.Address, databases.Widgets)
                .UseTransactionMode(mode)
                .LimitConcurrency(1)
                .Handle<Todo, TodoHandler>()
                .StopPatience = TimeSpan.FromMilliseconds(300));
            return builder.Build();
        }
    }

    [Test]
    public async Task A_retry_is_received_again_and_no_attempt_was_counted(
        [ValueSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Acknowledging))] TransactionMode mode, [Values] bool isTokenHeeded)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        var (inHandler, hostHasStopped) = (new TaskCompletionSource(), new TaskCompletionSource());
        var attempts = new List<int>();
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        using (var host = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                attempts.Add(context.Attempt);
                if (context.Attempt == 1)
                    throw new InvalidOperationException("The test wants this attempt to fail.");
                inHandler.SetResult();
                await hostHasStopped.Task.WaitAsync(isTokenHeeded ? cancellationToken : CancellationToken.None);
            },
            configure: endpoint => endpoint.StopPatience = TimeSpan.FromMilliseconds(300)))
        {
            await host.StartAsync();
            await inHandler.Task.WaitAsync(Eventually.Limit);
            await host.StopAsync(new CancellationToken(canceled: true));
        }

        hostHasStopped.SetResult();
        await bench.HandleAsync(mode, (context, _) =>
        {
            attempts.Add(context.Attempt);
            return Task.CompletedTask;
        });

        Assert.That(attempts, Is.EqualTo([1, 2, 2]));
    }

    internal sealed record Todo;

    private sealed class TodoHandler(Work work) : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) => work(context, cancellationToken);
    }
}
