using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>Nothing but the driver, on queues in PostgreSQL: the floor.</summary>
public sealed class BareOnPostgreSql : IEndpointKind
{
    public string Framework => "bare";

    public string Transport => TransportName.PostgreSql;

    public WidgetServer Widgets => WidgetServer.PostgreSql;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(NpgsqlConnection).Assembly];

    public Support Supports(TransactionMode mode) => PostgreSqlSupport.Of(mode);

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleWidget handle) => services
        .AddSingleton(handle)
        .AddBareEndpoint(settings.Queue, endpoint => endpoint
            .UsePostgreSql(settings.Transport, settings.Widgets)
            .BuildWidgets(settings));

    public ICellQueue OpenQueue(string name, string transport) => new CellQueue(NpgsqlDataSource.Create(transport), name);

    private sealed class CellQueue(NpgsqlDataSource source, string name) : ICellQueue
    {
        private readonly PostgreSqlQueue queue = new(source, name);

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

        public ValueTask DisposeAsync() => source.DisposeAsync();
    }
}
