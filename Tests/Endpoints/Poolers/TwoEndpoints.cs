using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Tests.Poolers;

/// <summary>Two bare endpoints with two queues in one database, reached through a pooler; their messages say for whom they are.</summary>
internal sealed class TwoEndpoints : IAsyncDisposable
{
    private static readonly string[] Names = ["left", "right"];

    private readonly IReadOnlyList<PostgreSqlQueue> queues;
    private readonly List<IHost> hosts = [];
    private int messages;

    private TwoEndpoints(TestDatabases databases)
    {
        Databases = databases;
        queues = [.. Names.Select(name => new PostgreSqlQueue(databases.Queue, name))];
    }

    public TestDatabases Databases { get; }

    /// <summary>Messages handled by the endpoint that they were for.</summary>
    public int Own => Stations.Sum(station => station.Own);

    /// <summary>Messages handled by the other.</summary>
    public int Others => Stations.Sum(station => station.Others);

    public WarningsOfAHost Warnings { get; } = new();

    private IEnumerable<Station> Stations => hosts.Select(host => host.Services.GetRequiredService<Station>());

    public static async Task<TwoEndpoints> CreateAsync(TestDatabases databases)
    {
        var endpoints = new TwoEndpoints(databases);
        foreach (var queue in endpoints.queues)
            await queue.CreateAsync(CancellationToken.None);

        return endpoints;
    }

    public async Task EnqueueAsync(int toEach)
    {
        foreach (var queue in queues)
        {
            var parcels = Enumerable.Range(0, toEach).Select(_ => OutgoingMessage.Create(queue.Name, new Parcel(queue.Name), Guid.CreateVersion7()));
            await queue.EnqueueAsync(parcels, CancellationToken.None);
        }

        messages += toEach * Names.Length;
    }

    /// <summary>Starts both; the first one's failure is thrown.</summary>
    public async Task StartAsync(TransactionMode mode, PrivatePgBouncer bouncer)
    {
        foreach (var name in Names)
        {
            var host = Host.CreateEmptyApplicationBuilder(settings: null);
            host.Logging.AddProvider(Warnings);
            host.Services.AddSingleton(new Station(name)).AddBareEndpoint(name, endpoint => endpoint
                .UsePostgreSql(bouncer.ConnectionTo(Databases.Queue), bouncer.ConnectionTo(DataOf(mode)))
                .UseTransactionMode(mode)
                .Handle<Parcel, ParcelHandler>());
            hosts.Add(host.Build());
            await hosts[^1].StartAsync();
        }
    }

    public Task StopAsync() => Task.WhenAll(hosts.Select(host => host.StopAsync()));

    /// <summary>Messages that are neither handled, nor in a queue, nor among the errors.</summary>
    public async Task<long> CountLostAsync()
    {
        var left = 0L;
        foreach (var queue in queues)
        {
            left += await queue.CountAsync(CancellationToken.None);
            left += (await queue.ReadErrorsAsync(CancellationToken.None)).Count;
        }

        return messages - Own - Others - left;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var host in hosts)
            await ((IAsyncDisposable)host).DisposeAsync();

        foreach (var queue in queues)
            await queue.DisposeAsync();
        Warnings.Dispose();
    }

    private string DataOf(TransactionMode mode) => mode.NeedsOneDatabase ? Databases.Queue : Databases.Widgets;

    internal sealed record Parcel(string To);

    private sealed class Station(string name)
    {
        private readonly ConcurrentDictionary<Guid, bool> isOwn = new();

        public int Own => isOwn.Count(parcel => parcel.Value);

        public int Others => isOwn.Count(parcel => !parcel.Value);

        public void Take(Guid id, Parcel parcel) => isOwn[id] = parcel.To == name;
    }

    private sealed class ParcelHandler(Station station) : IMessageHandler<Parcel>
    {
        public Task HandleAsync(Parcel message, MessageContext context, CancellationToken cancellationToken)
        {
            station.Take(context.MessageId, message);
            return Task.CompletedTask;
        }
    }
}
