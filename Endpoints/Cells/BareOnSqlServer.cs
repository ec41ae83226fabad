using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>The driver alone, on queues in SQL Server; the widgets are there too.</summary>
public sealed class BareOnSqlServer : IEndpointKind
{
    public FrameworkFacts Facts => FactsOfBare.Facts;

    public string Transport => TransportName.SqlServer;

    public WidgetServer WidgetServer => WidgetServer.SqlServer;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(SqlConnection).Assembly];

    public IReadOnlyList<PhaseInstrument> Instruments => PhaseInstrument.OfBareEndpoints;

    public Support Supports(TransactionMode mode) => SqlServerSupport.Of(mode);

    // One transaction covers receive and insert. It is rolled back entirely before the failure is counted.
    public bool CountsAfterRollback(TransactionMode mode) => mode is { IsOneUnit: true };

    public int LeastConnections(TransactionMode mode, int concurrency) => concurrency;

    // Over two connection strings the transaction would be promoted: that is another mode.
    public IReadOnlyList<string> CodeOf(TransactionMode mode) =>
        BareCells.CodeOf(mode == TransactionMode.FullDtc ? "UseSqlServer(data)" : "UseSqlServer(queues, data)", mode);

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) => services
        .AddSingleton(handle)
        .AddBareEndpoint(settings.Queue, endpoint => endpoint
            .UseSqlServer(settings.Transport, settings.Widgets)
            .BuildWidgets(settings));

    public IMessageQueue OpenQueue(string name, string transport) => new SqlServerQueue(transport, name);
}
