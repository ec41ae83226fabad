using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>Nothing but the driver, on queues in SQL Server; the widgets are there too.</summary>
public sealed class BareOnSqlServer : IEndpointKind
{
    public string Framework => "bare";

    public string Transport => TransportName.SqlServer;

    public WidgetServer Widgets => WidgetServer.SqlServer;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(SqlConnection).Assembly];

    public Support Supports(TransactionMode mode) => SqlServerSupport.Of(mode);

    // One transaction holds receive and insert: it is rolled back whole before the failure is counted.
    public bool CountsAfterRollback(TransactionMode mode) => mode == TransactionMode.FullDtc || mode == TransactionMode.FullDtcPromoted;

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleWidget handle) => services
        .AddSingleton(handle)
        .AddBareEndpoint(settings.Queue, endpoint => endpoint
            .UseSqlServer(settings.Transport, settings.Widgets)
            .BuildWidgets(settings));

    public ICellQueue OpenQueue(string name, string transport) => new CellQueue(new SqlServerQueue(transport, name), name);

    private sealed class CellQueue(SqlServerQueue queue, string name) : ICellQueue
    {
        public Task CreateAsync(CancellationToken cancellationToken) => queue.CreateAsync(cancellationToken);

        public Task PreloadAsync(IReadOnlyCollection<BuildWidget> messages, CancellationToken cancellationToken) =>
            queue.EnqueueAsync(messages.Select(message => OutgoingMessage.Create(name, message, message.MessageId)), cancellationToken);

        public Task PreloadUnreadableAsync(Guid messageId, CancellationToken cancellationToken) =>
            queue.EnqueueAsync(
                [OutgoingMessage.Create(name, new BuildWidget(messageId), messageId) with { Body = "{ no JSON"u8.ToArray() }],
                cancellationToken);

        public Task<long> CountAsync(CancellationToken cancellationToken) => queue.CountAsync(cancellationToken);

        public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => queue.ReadMessagesAsync(cancellationToken);

        public Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) => queue.ReadBodySizeAsync(cancellationToken);

        public async Task<IReadOnlyList<GivenUp>> ReadErrorsAsync(CancellationToken cancellationToken) =>
            [.. (await queue.ReadErrorsAsync(cancellationToken)).Select(letter => new GivenUp(letter.MessageId, letter.FailedAttempts, letter.Reason))];

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
