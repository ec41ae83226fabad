using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Runner.Loads;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Loading;

/// <summary>One cell under loads in this process, on the servers that the tests share, so that a test can meddle with them meanwhile.</summary>
internal sealed class LoadBench : IAsyncDisposable
{
    private readonly TemporaryFolder folder = new();
    private readonly ServersInUse servers = new();
    private readonly Cell cell;

    private LoadBench(Cell cell) => this.cell = cell;

    /// <summary>On PostgreSQL, and on RabbitMQ if the cell needs it.</summary>
    public static async Task<LoadBench> StartAsync(Cell cell)
    {
        var bench = new LoadBench(cell);
        try
        {
            foreach (var transport in Transport.NeededBy([Transport.Of(cell)]))
                await bench.servers.StartAsync(transport, await NamedAsync(transport), CancellationToken.None);
            await bench.servers.WidgetsOf(cell).SeedAsync(rows: 0, new Progress<int>(), CancellationToken.None);
            return bench;
        }
        catch
        {
            await bench.DisposeAsync();
            throw;
        }
    }

    /// <summary>Sends that many messages a second for a time, and tells the progress each second.</summary>
    public Task<LoadResult> RunAsync(double rate, TimeSpan length, Action<LoadProgress> tell) => RunAsync(new OpenLoad(rate), length, tell);

    /// <summary>Loads it for a time, and tells the progress each second.</summary>
    public Task<LoadResult> RunAsync(LoadShape shape, TimeSpan length, Action<LoadProgress> tell) => new LoadedCell(
        new LoadPlan([cell], [shape], length, LimitMilliseconds: null, Concurrency: 5, SeedRows: 0, WarmUp: 1, Senders: 2, folder.Below("load"), "load"),
        cell, servers, TimeSpan.FromSeconds(1), tell, _ => { }).RunAsync(shape, CancellationToken.None);

    /// <summary>Cuts the connection of the consumer that receives, for the runner, what handlers of this process's loads send to a broker.</summary>
    /// <param name="whenFound">Waits for the moment; the consumer is known by then.</param>
    public async Task CutConsumerAsync(Func<Task> whenFound)
    {
        var broker = (await RabbitMqServer.GetAsync()).Address;
        using var management = new ManagementApi(broker);
        // Tests that run at the same time have virtual hosts, too.
        var ours = from host in await management.ReadVirtualHostsAsync(CancellationToken.None) where host.Description == OwnerMark.Text select host.Name;
        var consumers = ours.Select(host => $"api/consumers/{Uri.EscapeDataString(host)}").ToList();
        using var client = new HttpClient { BaseAddress = broker.Management };
        client.DefaultRequestHeaders.Authorization = new(
            "Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{broker.UserName}:{broker.Password}")));
        var sink = Cell.SinkOf(RoundTransport.QueueName);
        string? connection = null;
        await Eventually.HoldsAsync(
            async () =>
            {
                foreach (var consumer in (await Task.WhenAll(consumers.Select(ListAsync))).SelectMany(listed => listed))
                {
                    // The broker lists a new consumer with an empty array of details until it knows its channel.
                    if (consumer.GetProperty("queue").GetProperty("name").GetString() == sink
                        && consumer.GetProperty("channel_details") is { ValueKind: JsonValueKind.Object } channel)
                        connection = channel.GetProperty("connection_name").GetString();
                }

                return connection is not null;
            },
            "the broker knows the consumer");
        await whenFound();
        using var answer = await client.DeleteAsync(new Uri($"api/connections/{Uri.EscapeDataString(connection!)}", UriKind.Relative));
        Assert.That(answer.IsSuccessStatusCode, await answer.Content.ReadAsStringAsync());

        async Task<IReadOnlyList<JsonElement>> ListAsync(string path)
        {
            // One that is being removed has none.
            using var listed = await client.GetAsync(new Uri(path, UriKind.Relative));
            return listed.IsSuccessStatusCode ? [.. (await listed.Content.ReadFromJsonAsync<JsonElement>()).EnumerateArray()] : [];
        }
    }

    public async ValueTask DisposeAsync()
    {
        await servers.DisposeAsync();
        folder.Dispose();
    }

    private static async Task<TransportArguments> NamedAsync(Transport transport) => TransportArguments.Of(transport.Name switch
    {
        TransportName.PostgreSql => [(transport.Server!, (await PostgreSqlServer.GetAsync()).ConnectionString)],
        TransportName.RabbitMq => Of((await RabbitMqServer.GetAsync()).Address),
        var other => throw new NotSupportedException($"The tests share no server of {other}."),
    });

    private static IEnumerable<(TransportSetting Setting, string? Text)> Of(RabbitMqAddress broker) =>
        Transport.Named(TransportName.RabbitMq).Settings.Zip([broker.Amqp.AbsoluteUri, (string?)broker.Management.AbsoluteUri]);
}
