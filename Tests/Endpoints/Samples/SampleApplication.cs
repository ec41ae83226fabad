using System.Diagnostics;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Runner.Servers;
using Orders;

namespace Kit.Tests.Samples;

/// <summary>The sample is started as a user starts it, with a framework and a mode.</summary>
[Parallelizable]
public sealed class SampleApplication
{
    [TestCase("full-dtc")]
    [TestCase("dtc-off")]
    [TestCase("scope-off")]
    [TestCase("transactions-off")]
    [TestCase("shared")]
    public Task Bare_places_the_order(string mode) => PlacesTheOrderAsync("bare", mode);

#if KIT_NSERVICEBUS
    [TestCase("full-dtc")]
    [TestCase("dtc-off")]
    [TestCase("scope-off")]
    [TestCase("transactions-off")]
    [TestCase("shared")]
    public Task NServiceBus_places_the_order(string mode) => PlacesTheOrderAsync("nservicebus", mode);
#endif

    [TestCase("dtc-off")]
    [TestCase("scope-off")]
    [TestCase("shared")]
    public Task Rebus_places_the_order(string mode) => PlacesTheOrderAsync("rebus", mode);

    [TestCase("scope-off")]
    [TestCase("outbox")]
    public Task Wolverine_places_the_order(string mode) => PlacesTheOrderAsync("wolverine", mode, databases => databases.Widgets);

    [TestCase("dtc-off")]
    [TestCase("scope-off")]
    [TestCase("transactions-off")]
    public async Task MassTransit_places_the_order(string mode)
    {
        await using var virtualHost = await TestVirtualHost.CreateAsync();

        await PlacesTheOrderAsync("masstransit", mode, _ => RabbitMqAddress.Parse(virtualHost.Address).Amqp.AbsoluteUri);
    }

    [Test]
    public async Task It_says_that_the_order_was_sent_and_handled()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var program = Process.Start(new ProcessStartInfo(
            Path.Combine(AppContext.BaseDirectory, ExternalProgram.FileNameOf("Orders")), ["--Queues", databases.Queue, "--Data", databases.Widgets])
        {
            RedirectStandardOutput = true,
            UseShellExecute = false,
        })!;
        try
        {
            using var soon = new CancellationTokenSource(Eventually.Limit);
            var lines = new[] { await program.StandardOutput.ReadLineAsync(soon.Token), await program.StandardOutput.ReadLineAsync(soon.Token) };

            Assert.That(lines, Has.One.Matches("^order [0-9a-f-]{36}: sent").And.One.Matches("^order [0-9a-f-]{36}: handled$"));
        }
        finally
        {
            program.Kill();
        }
    }

    private static async Task PlacesTheOrderAsync(string framework, string mode, Func<TestDatabases, string>? queuesIn = null)
    {
        await using var databases = await TestDatabases.CreateAsync();
        var queues = queuesIn?.Invoke(databases) ?? databases.QueueOf(TransactionMode.Parse(mode));
        await using (var application = new OrdersApplication(
            ["--Framework", framework, "--Mode", mode, "--Queues", queues, "--Data", databases.Widgets]))
        {
            await application.StartAsync(CancellationToken.None);
            var order = new PlaceOrder(Guid.CreateVersion7());

            await application.SendAsync(order, CancellationToken.None);

            await Eventually.HoldsAsync(
                async () => await TestDatabases.ScalarAsync(databases.Widgets, $"SELECT count(*)::int FROM placed_order WHERE id = '{order.OrderId}'") == 1,
                "the order is placed");
        }
    }
}
