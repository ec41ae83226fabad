using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>The driver alone, on queues in PostgreSQL: the floor.</summary>
public class BareOnPostgreSql : IEndpointKind
{
    public FrameworkFacts Facts => FactsOfBare.Facts;

    public virtual string Transport => TransportName.PostgreSql;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public bool HasSettings => true;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(NpgsqlConnection).Assembly];

    public IReadOnlyList<PhaseInstrument> Instruments => PhaseInstrument.OfBareEndpoints;

    public virtual Support Supports(TransactionMode mode) => PostgreSqlSupport.Of(mode);

    public virtual Support Supports(TransactionMode mode, LogFlush flush) => PostgreSqlSupport.Of(mode, flush);

    public Support SupportsBatches(TransactionMode mode, LogFlush flush) => PostgreSqlSupport.InBatches(mode, flush);

    public Support SupportsReceivingAhead(TransactionMode mode, LogFlush flush, int batchSize) => PostgreSqlSupport.ReceivingAhead(mode, flush, batchSize);

    public int LeastConnections(TransactionMode mode, int concurrency) => concurrency;

    public IReadOnlyList<string> CodeOf(TransactionMode mode) =>
        BareCells.CodeOf(mode is { NeedsOneDatabase: true } ? "UsePostgreSql(data)" : "UsePostgreSql(queues, data)", mode);

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) => services
        .AddSingleton(handle)
        .AddBareEndpoint(settings.Queue, endpoint => endpoint
            .UsePostgreSql(settings.Transport, settings.Widgets)
            .BuildWidgets(settings));

    public string? OutboxTableOf(TransactionMode mode, string queue) => mode == TransactionMode.Outbox ? $"{queue}_outbox" : null;

    public IMessageQueue OpenQueue(string name, string transport) => new PostgreSqlQueue(transport, name);
}
