using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Loads;
using Kit.Runner.Measuring;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Loading;

/// <summary>What whoever watches a load is told of its latency, from real queues and rows.</summary>
[Parallelizable]
public sealed class LatencyWhileItRuns
{
    private const int Most = 200;

    private static readonly TimeSpan Late = TimeSpan.FromSeconds(100);

    private TestDatabases databases = null!;
    private TestTransport place = null!;
    private IMessageQueue sink = null!;
    private CommittedSends effects = null!;

    [SetUp]
    public async Task OpenSink()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var cell = Cell.Find("bare.postgresql.dtc-off.ado.pass")!;
        databases = await TestDatabases.CreateAsync();
        place = await TestTransport.OpenAsync(cell, databases);
        await using var round = new RoundTransport("orders", place.Address, place.Address, () => ValueTask.CompletedTask);
        effects = new CommittedSends(cell, round);
        sink = cell.Kind.OpenQueue(Cell.SinkOf(round.Queue), place.Address);
        await sink.CreateAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task RemoveSink()
    {
        if (effects is not null)
            await effects.DisposeAsync();
        if (sink is not null)
            await sink.DisposeAsync();
        if (place is not null)
            await place.DisposeAsync();
        if (databases is not null)
            await databases.DisposeAsync();
    }

    [Test]
    public async Task Of_many_messages_in_a_queue_it_reads_the_last()
    {
        var sent = Messages(Most + 100);
        await sink.PreloadAsync(sent, CancellationToken.None);

        var latest = await effects.ReadLatestAsync(CancellationToken.None);

        Assert.That(latest.Select(one => one.Message), Is.EquivalentTo(sent.TakeLast(Most).Select(message => message.MessageId)));
        Assert.That(latest.Select(one => one.Moment), Is.All.EqualTo(DateTimeOffset.UtcNow).Within(TimeSpan.FromMinutes(1)));
    }

    [Test]
    public async Task Of_many_rows_it_reads_the_last()
    {
        await TestDatabases.ExecuteAsync(databases.Widgets, "INSERT INTO widget SELECT n, gen_random_uuid() FROM generate_series(1, 300) AS n");
        await using var rows = new CommittedRows(databases.Widgets);

        var latest = await rows.ReadLatestAsync(CancellationToken.None);

        var oldest = await TestDatabases.ScalarAsync(
            databases.Widgets, $"SELECT min(id)::int FROM widget WHERE message_id IN ({string.Join(", ", latest.Select(one => $"'{one.Message}'"))})");
        Assert.That((latest.Count, oldest), Is.EqualTo((Most, 101)));
    }

    [Test]
    public async Task It_is_that_of_the_messages_since_the_last_time()
    {
        var sends = new ConfirmedSends(ConfirmedSends.Longest);
        var latency = new LiveLatency(sends, effects);
        await SendAsync(sends, dueBefore: Late, count: 10);
        var first = await ToldAsync(latency);
        var nothing = await latency.ReadAsync();
        await SendAsync(sends, dueBefore: 2 * Late, count: 3);

        var second = await ToldAsync(latency);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(first, Is.InRange(Late.TotalMilliseconds, 1.5 * Late.TotalMilliseconds));
            Assert.That(nothing, Is.Null);
            Assert.That(second, Is.InRange(2 * Late.TotalMilliseconds, 2.5 * Late.TotalMilliseconds));
        }
    }

    [Test]
    public async Task It_is_unknown_while_the_server_does_not_tell_in_time_or_refuses()
    {
        var sends = new ConfirmedSends(ConfirmedSends.Longest);
        var latency = new LiveLatency(sends, effects);
        await SendAsync(sends, dueBefore: Late, count: 3);
        await using (var holder = await new Rounds.NamedServer(place.Address).OpenAsync())
        {
            await using var transaction = await holder.BeginTransactionAsync();
            await using var hold = holder.CreateCommand();
            hold.CommandText = $"LOCK TABLE \"{sink.Name}\"";
            await hold.ExecuteNonQueryAsync();
            Assert.That(await latency.ReadAsync(), Is.Null, "somebody has locked the queue");
        }

        Assert.That(await ToldAsync(latency), Is.Positive, "it goes on");
        await TestDatabases.ExecuteAsync(place.Address, $"DROP TABLE \"{sink.Name}\"");
        Assert.That(await latency.ReadAsync(), Is.Null);
    }

    /// <summary>A server that does not tell in time is asked again, as in a load.</summary>
    private static async Task<double?> ToldAsync(LiveLatency latency)
    {
        double? told = null;
        await Eventually.HoldsAsync(async () => (told = await latency.ReadAsync()) is not null, "the server tells the latency");
        return told;
    }

    private static List<BuildWidget> Messages(int count) => [.. Enumerable.Range(0, count).Select(_ => MessageSize.IdAlone.NewMessage())];

    /// <summary>A message in the sink has the id of the one for which a handler sent it, so the load may send to the sink itself.</summary>
    private Task SendAsync(ConfirmedSends sends, TimeSpan dueBefore, int count) => sends.SendAsync(
        new Producer(sink),
        [.. Enumerable.Range(0, count).Select(_ => new SentMessage(Guid.CreateVersion7(), DateTimeOffset.UtcNow - dueBefore, DateTimeOffset.UtcNow))]);

    private sealed class Producer(IMessageQueue queue) : IProducer
    {
        public Task SendAsync(IReadOnlyCollection<Guid> messages, CancellationToken cancellationToken) =>
            queue.PreloadAsync(messages.Select(id => new BuildWidget(id)), cancellationToken);
    }
}
