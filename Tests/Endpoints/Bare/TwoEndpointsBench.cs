using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Bare;

/// <summary>Two bare endpoints of one cell's kind in one process: the first sends on what it handles to the second.</summary>
internal sealed class TwoEndpointsBench : IAsyncDisposable
{
    private readonly TestDatabases databases;
    private readonly TestTransport space;
    private readonly IMessageQueue second;
    private readonly IHost host;
    private readonly Seen seen;

    private TwoEndpointsBench(TestDatabases databases, TestTransport space, IMessageQueue first, IMessageQueue second, IHost host, Seen seen)
    {
        this.databases = databases;
        this.space = space;
        First = first;
        this.second = second;
        this.host = host;
        this.seen = seen;
    }

    public IMessageQueue First { get; }

    public static async Task<TwoEndpointsBench> StartAsync(Cell cell, bool firstFails)
    {
        var created = await TestDatabases.CreateAsync();
        var opened = await TestTransport.OpenAsync(cell, created);
        var (first, second) = (cell.Kind.OpenQueue("first", opened.Address), cell.Kind.OpenQueue("second", opened.Address));
        await first.CreateAsync(CancellationToken.None);
        await second.CreateAsync(CancellationToken.None);
        var shared = new Seen { Failures = firstFails ? 1 : 0 };
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services
            .AddSingleton(shared)
            .AddBareEndpoint("first", endpoint => On(endpoint).Handle<Order, FirstHandler>())
            .AddBareEndpoint("second", endpoint => On(endpoint).Handle<Invoice, SecondHandler>());
        var built = builder.Build();
        await built.StartAsync();
        return new TwoEndpointsBench(created, opened, first, second, built, shared);

        BareEndpointBuilder On(BareEndpointBuilder endpoint)
        {
            endpoint.OutboxSchedule = Outbox.OutboxBench.Patient;
            return (cell.Kind.Transport == TransportName.RabbitMq
                ? endpoint.UseRabbitMq(opened.Address, created.Widgets)
                : endpoint.UsePostgreSql(opened.Address, created.Widgets)).UseTransactionMode(cell.Mode);
        }
    }

    public void FailNext(int attempts) => seen.Failures = attempts;

    public Task SendAsync(Dictionary<string, string> headers) =>
        First.EnqueueAsync([OutgoingMessage.Create("first", new Order()) with { Headers = headers }], CancellationToken.None);

    public Task<IReadOnlyDictionary<string, string>> HandledByFirstAsync() => seen.First.Task.WaitAsync(Eventually.Limit);

    public Task<IReadOnlyDictionary<string, string>> HandledBySecondAsync() => seen.Second.Task.WaitAsync(Eventually.Limit);

    public async ValueTask DisposeAsync()
    {
        await host.StopAsync();
        host.Dispose();
        await First.DisposeAsync();
        await second.DisposeAsync();
        await space.DisposeAsync();
        await databases.DisposeAsync();
    }

    internal sealed record Order;

    internal sealed record Invoice;

    private sealed class Seen
    {
        public int Failures;

        public TaskCompletionSource<IReadOnlyDictionary<string, string>> First { get; } = new();

        public TaskCompletionSource<IReadOnlyDictionary<string, string>> Second { get; } = new();
    }

    private sealed class FirstHandler(Seen seen) : IMessageHandler<Order>
    {
        public async Task HandleAsync(Order message, MessageContext context, CancellationToken cancellationToken)
        {
            if (Interlocked.Decrement(ref seen.Failures) >= 0)
                throw new InvalidOperationException("As the test wants.");

            var on = new Dictionary<string, string> { ["tenant"] = context.Headers.GetValueOrDefault("tenant", ""), ["hop"] = "2" };
            await context.SendAsync("second", new Invoice(), headers: on, cancellationToken: cancellationToken);
            seen.First.TrySetResult(context.Headers);
        }
    }

    private sealed class SecondHandler(Seen seen) : IMessageHandler<Invoice>
    {
        public Task HandleAsync(Invoice message, MessageContext context, CancellationToken cancellationToken)
        {
            seen.Second.TrySetResult(context.Headers);
            return Task.CompletedTask;
        }
    }
}
