using Kit.Endpoints.Cells;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>The outbox, when its queue refuses one record again and again, for a reason of that record's.</summary>
[Parallelizable]
public sealed class RecordIsRefused
{
    private const string Sink = "built";

    // It closes the channel, as one that is too large does: nobody consumes this pseudo-queue.
    private const string RefusedByTheBroker = """UPDATE orders_outbox SET headers = '{"reply-to": "amq.rabbitmq.reply-to"}' WHERE causation_id = $1""";

    private const string RefusedByTheDriver = "UPDATE orders_outbox SET queue = repeat('q', 300) WHERE causation_id = $1";

    private const string Unreadable = "UPDATE orders_outbox SET headers = jsonb_build_object('large', repeat('x', 20000)) WHERE causation_id = $1";

    private const string RefusedByAConstraint = "UPDATE orders_outbox SET type = 'forbidden' WHERE causation_id = $1";

    private const string EndsItsSession = "UPDATE orders_outbox SET type = 'fatal' WHERE causation_id = $1";

    [TestCase(TransportName.RabbitMq, RefusedByTheBroker, "PRECONDITION_FAILED")]
    [TestCase(TransportName.RabbitMq, RefusedByTheDriver, "cannot be published")]
    [TestCase(TransportName.RabbitMq, Unreadable, "The headers have 20005 characters", Category = ExhaustiveAttribute.Category)]
    [TestCase(TransportName.PostgreSql, RefusedByAConstraint, "violates check constraint")]
    [TestCase(TransportName.PostgreSql, EndsItsSession, "57P01")]
    [TestCase(TransportName.PostgreSql, Unreadable, "The headers have 20005 characters")]
    public async Task It_waits_alone_and_is_named(string transport, string refuse, string reason)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        if (transport == TransportName.PostgreSql)
            await RefuseSomeAsync(bench.Transport);
        var left = await bench.LeaveAsync(20, Sink);
        // The first of the search.
        var bad = left.Order().First();
        await using (var widgets = NpgsqlDataSource.Create(bench.Databases.Widgets))
        {
            await using var update = widgets.CreateCommand(refuse);
            update.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = bad });
            Assert.That(await update.ExecuteNonQueryAsync(), Is.EqualTo(1));
        }

        using var warnings = new WarningsOfAHost();
        using var endpoint = bench.Build(_ => [], log: warnings);
        await endpoint.StartAsync();
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 1, "the others are dispatched");
        await Eventually.HoldsAsync(() => warnings.Count("refusal 2") > 0, "it is tried again");
        await endpoint.StopAsync();

        Assert.That(await sink.CountAsync(CancellationToken.None), Is.EqualTo(19));
        var refused = warnings.Lines.First(line => line.Contains("refused", StringComparison.Ordinal));
        Assert.That(refused, Does.Contain(reason).And.Contain($"DELETE FROM \"public\".\"orders_outbox\" WHERE causation_id = '{bad}'"));
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, refused[refused.IndexOf("DELETE", StringComparison.Ordinal)..]);
        Assert.That(await bench.CountWaitingAsync(), Is.Zero);
    }

    private static Task RefuseSomeAsync(string queues) => TestDatabases.ExecuteAsync(
        queues,
        $"""
        ALTER TABLE {Sink} ADD CHECK (type <> 'forbidden');
        CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END$$;
        CREATE TRIGGER die BEFORE INSERT ON {Sink} FOR EACH ROW WHEN (NEW.type = 'fatal') EXECUTE FUNCTION die();
        """);
}
