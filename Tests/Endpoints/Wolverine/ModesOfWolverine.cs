using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Wolverine;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Wolverine;
using Wolverine.Postgresql.Transport;
using Wolverine.RabbitMQ;
using Wolverine.Runtime;

namespace Kit.Tests.Wolverine;

/// <summary>What <c>UseTransactionMode</c> refuses.</summary>
public sealed class ModesOfWolverine
{
    private static IEnumerable<TransactionMode> Refused => TransactionMode.All.Where(mode => !WolverineSupport.Of(mode).IsSupported);

    private static IEnumerable<TransactionMode> RefusedOnRabbitMq => TransactionMode.All.Where(mode => !WolverineSupport.OnRabbitMq(mode).IsSupported);

    [TestCaseSource(nameof(Refused))]
    public void Another_mode_is_refused_with_the_reason(TransactionMode mode) => Assert.That(
        () => new WolverineOptions().UseTransactionMode(mode, "Host=nowhere", "orders"),
        Throws.TypeOf<NotSupportedException>().With.Message.EqualTo($"Wolverine cannot run in {mode}: {WolverineSupport.Of(mode).Because}."));

    /// <summary>Each call would write a dead letter for a message of an unknown type.</summary>
    [Test]
    public void A_second_call_is_refused()
    {
        var wolverine = new WolverineOptions();
        wolverine.UseTransactionMode(TransactionMode.ScopeOff, "Host=nowhere", "orders");

        Assert.That(
            () => wolverine.UseTransactionMode(TransactionMode.ScopeOff, "Host=nowhere", "audits"),
            Throws.InvalidOperationException.With.Message.Contains("has been called already"));
    }

    [Test]
    public void The_options_of_its_transport_can_be_set()
    {
        PostgresqlPersistenceExpression? transport = null;

        new WolverineOptions().UseTransactionMode(TransactionMode.ScopeOff, "Host=nowhere", "orders", transport: set => transport = set);

        Assert.That(transport, Is.Not.Null);
    }

    [TestCaseSource(nameof(RefusedOnRabbitMq))]
    public void Another_mode_is_refused_on_RabbitMQ_with_the_reason(TransactionMode mode) => Assert.That(
        () => new WolverineOptions().UseTransactionMode(mode, new Uri("amqp://nowhere"), "orders"),
        Throws.TypeOf<NotSupportedException>()
            .With.Message.EqualTo($"Wolverine on RabbitMQ cannot run in {mode}: {WolverineSupport.OnRabbitMq(mode).Because}."));

    [Test]
    public void Outbox_on_RabbitMQ_without_a_database_is_refused() => Assert.That(
        () => new WolverineOptions().UseTransactionMode(TransactionMode.Outbox, new Uri("amqp://nowhere"), "orders"),
        Throws.ArgumentException.With.Message.Contains("Expected the database of the handlers' rows"));

    /// <summary>Each message waits for those before it, while the broker's consumer_timeout runs.</summary>
    [Test]
    public async Task Scope_off_on_RabbitMQ_prefetches_three()
    {
        await using var broker = await TestVirtualHost.CreateAsync();
        using var host = HostOf(wolverine =>
        {
            wolverine.UseTransactionMode(TransactionMode.ScopeOff, RabbitMqAddress.Parse(broker.Address).Amqp, "orders");
            wolverine.ConfigureRabbitMq().AutoProvision();
        });
        await host.StartAsync();

        var queues = host.Services.GetRequiredService<IWolverineRuntime>().Options.Transports.AllEndpoints()
            .OfType<global::Wolverine.RabbitMQ.Internal.RabbitMqQueue>();

        Assert.That(queues.Single(queue => queue.QueueName == "orders").PreFetchCount, Is.EqualTo(3));
        await host.StopAsync();
    }

    /// <summary>A buffered listener deletes a message, or acknowledges it, before its handler has run.</summary>
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task A_listener_in_memory_fails_the_start_of_scope_off(string transport)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        using var host = HostOf(wolverine =>
        {
            if (transport == "postgresql")
                wolverine.UseTransactionMode(TransactionMode.ScopeOff, databases.Widgets, "orders").BufferedInMemory();
            else
                wolverine.UseTransactionMode(TransactionMode.ScopeOff, RabbitMqAddress.Parse(broker.Address).Amqp, "orders").BufferedInMemory();
        });

        await Assert.ThatAsync(
            () => host.StartAsync(), Throws.InvalidOperationException.With.Message.Match("orders/? is BufferedInMemory"));
    }

    private static IHost HostOf(Action<WolverineOptions> configure)
    {
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        application.Services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            wolverine.UseRuntimeCompilation();
            wolverine.ApplicationAssembly = typeof(ModesOfWolverine).Assembly;
            wolverine.Durability.Mode = DurabilityMode.Solo;
            configure(wolverine);
        });
        return application.Build();
    }
}
