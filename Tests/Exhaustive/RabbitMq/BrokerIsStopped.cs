using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.RabbitMq;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Exhaustive.RabbitMq;

/// <summary>A broker that is killed in the middle of a drain and is started again, for every cell on RabbitMQ; on a broker of these tests' own.</summary>
[Parallelizable]
public sealed class BrokerIsStopped
{
    private const int Messages = 3_000;

    private PrivateRabbitMq broker = null!;

    private static IEnumerable<TestCaseData> Cells =>
        RabbitMqCells.All.Select(cell => new TestCaseData(cell.Arguments).SetArgDisplayNames($"{cell.Arguments[0]}"));

    [OneTimeSetUp]
    public async Task OneTimeSetUp()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        broker = await PrivateRabbitMq.StartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task OneTimeTearDown()
    {
        if (broker is not null)
            await broker.DisposeAsync();
    }

    // How many are doubled has no bound: a classic queue writes acknowledgements to the disk when it has time, and all those of a drain can be gone.
    [TestCaseSource(nameof(Cells))]
    public async Task The_endpoint_goes_on_and_no_message_is_lost_that_was_to_be_acknowledged(Cell cell)
    {
        var lost = await DrainThroughAsync(cell);

        if (cell.Mode != TransactionMode.TransactionsOff)
            Assert.That(lost, Is.Zero);
    }

    private async Task<int> DrainThroughAsync(Cell cell)
    {
        await using var databases = await TestDatabases.CreateAsync();
        var address = broker.Address.Text;
        var name = $"{cell.Mode}.{Guid.NewGuid():N}";
        await using var queue = cell.Kind.OpenQueueOf(cell.Mode, name, address, databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        var messages = Enumerable.Range(0, Messages).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
        await queue.PreloadAsync(messages, CancellationToken.None);
        var builder = new WidgetBuilder(cell.Access.CreateInsert());
        var handled = 0;
        var last = new BuildWidget(Guid.CreateVersion7());
        await RunAsync(async () =>
        {
            await Eventually.HoldsAsync(() => Volatile.Read(ref handled) >= Messages / 3, "the drain comes on");
            await broker.StopImmediatelyAsync();
            await broker.RestartAsync(CancellationToken.None);

            // One message more: it comes through only if the endpoint is there again.
            messages.Add(last);
            await queue.PreloadAsync([last], CancellationToken.None);
            await Eventually.HoldsAsync(IsDrainedAsync, "the endpoint comes back, and the drain ends");
        });

        var rows = await databases.ReadRowsByMessageAsync();
        var (lost, doubled) = (messages.Count(message => !rows.ContainsKey(message.MessageId)), rows.Count(row => row.Value > 1));
        await TestContext.Out.WriteLineAsync($"{cell}: {messages.Count} messages, {lost} lost, {doubled} doubled");
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        return lost;

        async Task<bool> IsDrainedAsync() => await databases.CountRowsAsync(last.MessageId) > 0 && await queue.CountAsync(CancellationToken.None) == 0;

        async Task RunAsync(Func<Task> meanwhile)
        {
            var host = Host.CreateEmptyApplicationBuilder(settings: null);
            cell.Kind.AddEndpoint(
                host.Services,
                new EndpointSettings(name, address, databases.Widgets, cell.Mode, Concurrency: 2),
                async (message, context, cancellationToken) =>
                {
                    await builder.BuildAsync(message, context, cancellationToken);
                    Interlocked.Increment(ref handled);
                });
            var endpoint = host.Build();
            await using ((IAsyncDisposable)endpoint)
            {
                await endpoint.StartAsync();
                await meanwhile();
                await endpoint.StopAsync();
            }
        }
    }
}
