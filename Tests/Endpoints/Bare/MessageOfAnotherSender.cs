using System.Text;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Tests.RabbitMq;
using RabbitMQ.Client;

namespace Kit.Tests.Bare;

/// <summary>A program without the kit wrote the message, or an operator changed it: with a mark before its body, or counts that no endpoint writes.</summary>
[Parallelizable]
public sealed class MessageOfAnotherSender
{
    private static readonly byte[] Marked = [.. Encoding.UTF8.Preamble, .. "{}"u8];

    private static readonly object[] Counts =
        [int.MaxValue, int.MinValue, -1, long.MaxValue, long.MinValue, (byte)2, (short)2, 2.5, "2147483647", "many", "", true, new List<object?> { 1 }];

    [TestCase("scope-off")]
    [TestCase("full-dtc")]
    [TestCase("transactions-off")]
    public async Task A_byte_order_mark_before_its_body_is_no_part_of_it_in_PostgreSql(string mode)
    {
        await using var bench = await BareBench.CreateAsync();
        var chosen = TransactionMode.Parse(mode);
        var queue = bench.QueueOf(chosen);
        await queue.EnqueueAsync([new OutgoingMessage("work", Guid.CreateVersion7(), typeof(BareBench.Todo).FullName!, Marked)], CancellationToken.None);

        Assert.That(await bench.HandleAsync(chosen, (_, _) => Task.CompletedTask), Is.Empty);
    }

    [Test]
    public async Task A_byte_order_mark_before_its_body_is_no_part_of_it_in_RabbitMq()
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        await bench.PublishAsync("work", RabbitMqBench.Properties(), Marked);
        var handled = 0;

        await bench.HandleAsync(TransactionMode.ScopeOff, (_, _) => Task.FromResult(handled++));

        Assert.That(handled, Is.EqualTo(1));
        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    [TestCase(int.MaxValue, 1)]
    [TestCase(int.MinValue, 3)]
    [TestCase(-5, 3)]
    public async Task A_count_of_failed_attempts_in_PostgreSql_that_no_endpoint_writes_ends_all_the_same(int count, int attempts)
    {
        await using var bench = await BareBench.CreateAsync();
        await bench.QueueOf(TransactionMode.ScopeOff).EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"UPDATE work SET failed_attempts = {count}");
        var handled = 0;
        using var endpoint = bench.Build(TransactionMode.ScopeOff, (_, _) =>
        {
            handled++;
            throw new InvalidOperationException("no stock");
        });

        await endpoint.StartAsync();
        var errors = bench.QueueOf(TransactionMode.ScopeOff);
        await Eventually.HoldsAsync(async () => handled > 3 || (await errors.ReadErrorsAsync(CancellationToken.None)).Count == 1, "it is given up");
        await endpoint.StopAsync();

        Assert.That(handled, Is.EqualTo(attempts));
        Assert.That((await errors.ReadErrorsAsync(CancellationToken.None)).Single().FailedAttempts, Is.Positive);
    }

    [TestCaseSource(nameof(Counts))]
    public async Task Headers_of_the_kit_that_no_endpoint_writes_neither_end_the_connection_nor_make_it_come_for_ever(object value)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        var properties = RabbitMqBench.Properties();
        properties.Headers = new[] { "kit-failed-attempts", "kit-not-before", "kit-failed-at", "kit-reason" }.ToDictionary(name => name, object? (_) => value);
        await bench.PublishAsync("work", new BasicProperties(properties) { Headers = new Dictionary<string, object?>(properties.Headers) });
        await bench.PublishAsync("work_error", properties);
        var handled = 0;
        using var endpoint = bench.Build(TransactionMode.ScopeOff, (_, _) =>
        {
            handled++;
            throw new InvalidOperationException("no stock");
        });

        await endpoint.StartAsync();
        await Eventually.HoldsAsync(async () => handled > 3 || await bench.CountAsync("work_error") == 2, "it is given up");
        await endpoint.StopAsync();

        Assert.That(handled, Is.InRange(1, 3));
        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(2));
        Assert.That(bench.Warnings.Count("Next try"), Is.Zero, $"{bench.Warnings}");
    }

    // In the retry queue the delay is heeded.
    [TestCase(long.MinValue)]
    [TestCase(long.MaxValue)]
    [TestCase("soon")]
    public void A_delay_that_no_endpoint_writes_is_at_most_a_minute(object due)
    {
        var properties = new BasicProperties
        {
            Headers = new Dictionary<string, object?> { ["kit-not-before"] = due is string text ? Encoding.UTF8.GetBytes(text) : due },
        };

        Assert.That(AmqpMessage.DelayOf(properties), Is.InRange(TimeSpan.Zero, TimeSpan.FromMinutes(1)));
    }
}
