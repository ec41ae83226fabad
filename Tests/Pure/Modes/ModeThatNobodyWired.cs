using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Endpoints.MassTransit;
using Kit.Endpoints.Rebus.PostgreSql;
using Kit.Endpoints.Wolverine;
using Kit.Guarantees;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Modes;

/// <summary>A mode that is defined and entered nowhere: every place that chooses by mode refuses it, and none takes another mode for it.</summary>
public sealed class ModeThatNobodyWired
{
    private static readonly TransactionMode Invented = TransactionMode.DtcOff with { Name = "invented" };

    private static IEnumerable<TestCaseData> Places =>
    [
        Place("bare on PostgreSQL", mode => PostgreSqlSupport.Of(mode)),
        Place("bare on RabbitMQ", mode => RabbitMqSupport.Of(mode)),
        Place("bare on SQL Server", mode => SqlServerSupport.Of(mode)),
        Place("bare on SQL Server, one connection", mode => SqlServerSupport.Of(mode, isOneConnection: true)),
        Place("MassTransit", mode => MassTransitSupport.Of(mode)),
        Place("Rebus", mode => RebusSupport.Of(mode)),
        Place("Wolverine on PostgreSQL", mode => WolverineSupport.Of(mode)),
        Place("Wolverine on RabbitMQ", mode => WolverineSupport.OnRabbitMq(mode)),
        Place("promises", mode => FaultPromise.Of(Fault.Poison, mode, isBroker: false)),
        Place("promises always", mode => FaultPromise.Always(mode, isBroker: false)),
    ];

    [TestCaseSource(nameof(Places))]
    public void Is_refused_by_whatever_chooses(Action<TransactionMode> choose)
    {
        Assert.That(() => choose(Invented), Throws.TypeOf<UnknownModeException>().With.Message.Contains("'invented'"));
        Assert.That(() => choose(TransactionMode.DtcOff), Throws.Nothing, "the mode that it was made of is known");
    }

    [Test]
    public async Task Is_refused_by_an_endpoint_when_it_starts()
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddBareEndpoint("work", endpoint => endpoint
            .UsePostgreSql("Host=127.0.0.1;Port=9", "Host=127.0.0.1;Port=9")
            .UseTransactionMode(Invented)
            .Handle<string, Never>());
        using var built = host.Build();

        await Assert.ThatAsync(() => built.StartAsync(), Throws.TypeOf<UnknownModeException>());
    }

    private static TestCaseData Place(string name, Action<TransactionMode> choose) => new TestCaseData(choose).SetArgDisplayNames(name);

    private sealed class Never : IMessageHandler<string>
    {
        public Task HandleAsync(string message, MessageContext context, CancellationToken cancellationToken) =>
            throw new InvalidOperationException("No message was sent.");
    }
}
