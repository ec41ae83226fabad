using System.Text;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>An endpoint that is configured when the host starts, with what its services hold.</summary>
[Parallelizable]
public sealed class ConfiguredWithTheServices
{
    private TestDatabases databases = null!;

    [SetUp]
    public async Task SetUp() => databases = await TestDatabases.CreateAsync();

    [TearDown]
    public async Task TearDown() => await databases.DisposeAsync();

    [Test]
    public async Task It_takes_its_data_source_and_options_from_them_and_disposes_a_handler_that_nobody_registered()
    {
        var seen = new Seen();
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services
            .AddSingleton(seen)
            .AddSingleton(_ => NpgsqlDataSource.Create(databases.Widgets))
            .AddSingleton(new JsonSerializerOptions(JsonSerializerDefaults.Web))
            .AddBareEndpoint("work", (provider, endpoint) => endpoint
                .UsePostgreSql(provider.GetRequiredService<NpgsqlDataSource>())
                .UseTransactionMode(TransactionMode.Shared)
                .UseJson(provider.GetRequiredService<JsonSerializerOptions>())
                .Handle<Order, Handler>());
        using var host = builder.Build();
        await host.StartAsync();
        await using var queue = new PostgreSqlQueue(databases.Widgets, "work");
        var body = Encoding.UTF8.GetBytes("""{"what":"widgets"}""");

        await queue.EnqueueAsync([new OutgoingMessage("work", Guid.CreateVersion7(), typeof(Order).FullName!, body)], CancellationToken.None);

        Assert.That(await seen.Order.Task.WaitAsync(Eventually.Limit), Is.EqualTo("widgets"));
        await Eventually.HoldsAsync(() => Task.FromResult(seen.Disposed == 1), "the handler is disposed");
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                databases.Widgets, "SELECT count(*)::int FROM work WHERE convert_from(body, 'UTF8') = '{\"what\":\"sent on\"}'") == 1,
            "what it sent is written as the options say");
        seen.Written.SetResult();
        await host.StopAsync();
    }

    [Test]
    public async Task What_it_lacks_is_told_when_the_host_starts()
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddBareEndpoint("work", (_, endpoint) => endpoint.UsePostgreSql(databases.Widgets).Handle<Order, Handler>());
        using var host = builder.Build();

        Assert.That(
            (await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync()))!.Message, Does.StartWith("Endpoint 'work' has no transaction mode"));
    }

    [Test]
    public void A_second_endpoint_of_its_name_is_refused()
    {
        var services = new ServiceCollection().AddBareEndpoint("work", (_, _) => { });

        Assert.That(
            () => services.AddBareEndpoint("work", (_, _) => { }),
            Throws.InvalidOperationException.With.Message.StartsWith("An endpoint 'work' already exists"));
    }

    internal sealed record Order(string What);

    private sealed class Seen
    {
        public TaskCompletionSource<string> Order { get; } = new();

        public TaskCompletionSource Written { get; } = new();

        public int Disposed { get; set; }
    }

    private sealed class Handler(Seen seen) : IMessageHandler<Order>, IDisposable
    {
        public async Task HandleAsync(Order message, MessageContext context, CancellationToken cancellationToken)
        {
            if (message.What == "widgets")
                await context.SendAsync("work", new Order("sent on"), cancellationToken: cancellationToken);
            else
                await seen.Written.Task.WaitAsync(cancellationToken);

            seen.Order.TrySetResult(message.What);
        }

        public void Dispose() => seen.Disposed++;
    }
}
