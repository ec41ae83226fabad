using Kit.Endpoints.Cells;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using NServiceBus;
using NServiceBus.Serialization;
using NServiceBus.Settings;
using NServiceBus.Transport;

namespace Kit.Tests.NServiceBus;

/// <summary>What the cells set for the comparison, next to the mode, before anything is opened.</summary>
public sealed class ConfiguredCells
{
    private const string PostgreSql = "Host=nowhere;Database=queues";
    private const string RabbitMq = "amqp://nowhere";
    private const string Folder = "queues";

    private static IEnumerable<TestCaseData> Cells =>
    [
        new TestCaseData(new NServiceBusOnPostgreSql(), PostgreSql, "\"orders_error\"").SetArgDisplayNames("postgresql"),
        new TestCaseData(new NServiceBusOnRabbitMq(), RabbitMq, "orders_error").SetArgDisplayNames("rabbitmq"),
        new TestCaseData(new NServiceBusOnLearning(), Folder, "orders_error").SetArgDisplayNames("learning"),
    ];

    [TestCaseSource(nameof(Cells))]
    public async Task Concurrency_error_queue_and_body_are_those_of_every_cell(IEndpointKind kind, string transport, string errors)
    {
        await using var host = Configured(kind, transport);

        var settings = host.Settings;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(ConcurrencyOf(settings), Is.EqualTo(3));
            Assert.That(settings.ErrorQueueAddress(), Is.EqualTo(errors));
            Assert.That(SerializerOf(settings), Is.TypeOf<SystemJsonSerializer>());
        }
    }

    [Test]
    public async Task Connection_strings_reach_the_transport()
    {
        await using var postgreSql = Configured(new NServiceBusOnPostgreSql(), PostgreSql);
        await using var learning = Configured(new NServiceBusOnLearning(), Folder);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(((PostgreSqlTransport)postgreSql.Transport).ConnectionString, Is.EqualTo(PostgreSql));
            Assert.That(((LearningTransport)learning.Transport).StorageDirectory, Is.EqualTo(Folder));
        }
    }

    [Test]
    public async Task RabbitMq_has_the_prefetch_of_the_other_endpoints_and_no_queues_for_delays()
    {
        await using var host = Configured(new NServiceBusOnRabbitMq(), RabbitMq);
        var transport = (RabbitMQTransport)host.Transport;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(transport.PrefetchCountCalculation(2), Is.EqualTo(32));
            Assert.That(transport.SupportsDelayedDelivery, Is.False);
            Assert.That(transport.ValidateDeliveryLimits, Is.True);
        }
    }

    /// <summary>How many messages are handled at a time; <see langword="null"/> where nobody said.</summary>
    internal static int? ConcurrencyOf(IReadOnlySettings settings) => settings.TryGet(out PushRuntimeSettings limits) ? limits.MaxConcurrency : null;

    /// <summary>What writes bodies; <see langword="null"/> where nobody said. The key is NServiceBus's own.</summary>
    internal static SerializationDefinition? SerializerOf(IReadOnlySettings settings) =>
        settings.TryGet("MainSerializer", out Tuple<SerializationDefinition, SettingsHolder> main) ? main.Item1 : null;

    private static ConfiguredHost Configured(IEndpointKind kind, string transport) => new(kind, transport);

    private sealed class ConfiguredHost : IAsyncDisposable
    {
        private readonly IHost host;

        public ConfiguredHost(IEndpointKind kind, string transport)
        {
            var builder = Host.CreateEmptyApplicationBuilder(settings: null);
            var settings = new EndpointSettings("orders", transport, PostgreSql, TransactionMode.DtcOff, Concurrency: 3);
            kind.AddEndpoint(builder.Services, settings, (_, _, _) => Task.CompletedTask);
            host = builder.Build();
        }

        public IReadOnlySettings Settings => host.Services.GetRequiredService<IReadOnlySettings>();

        public TransportDefinition Transport => Settings.Get<TransportDefinition>();

        public ValueTask DisposeAsync() => ((IAsyncDisposable)host).DisposeAsync();
    }
}
