using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Tests.Bare;
using Kit.Tests.Contract;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>The outbox, given a message that it has had, and one that it cannot tell from others.</summary>
[Parallelizable]
public sealed class MessageComesAgain
{
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task What_was_handled_and_dispatched_is_neither_again(string transport)
    {
        await using var bench = await CellBench.CreateAsync(Cell.All.Single(cell => cell.Name == $"bare.{transport}.outbox.ado"));
        var message = await bench.SendAsync(Situation.HandlerSucceeds);
        await bench.DrainAsync();

        await bench.SendAgainAsync(message);
        await bench.DrainAsync();

        Assert.That(await bench.ObserveAsync(message), Is.EqualTo(Expectation.Of(TransactionMode.Outbox, Situation.HandlerSucceeds)));
    }

    [Test]
    public async Task What_was_given_up_is_handled_when_it_is_sent_again()
    {
        await using var bench = await CellBench.CreateAsync(Cell.All.Single(cell => cell.Name == "bare.postgresql.outbox.ado"));
        var message = await bench.SendAsync(Situation.AlwaysThrowsAfterInsert);
        await bench.DrainAsync();

        await bench.SendAgainAsync(message);
        await bench.DrainAsync();

        Assert.That((await bench.ObserveAsync(message)).Attempts, Is.EqualTo(2 * TransactionMode.Outbox.Attempts));
    }

    [Test]
    public async Task Once_its_id_is_deleted_it_is_handled_again()
    {
        await using var bench = await BareBench.CreateAsync();
        var (message, handled) = (Guid.CreateVersion7(), 0);
        Work work = (_, _) =>
        {
            handled++;
            return Task.CompletedTask;
        };
        await bench.HandleAsync(TransactionMode.Outbox, message, work);
        await bench.HandleAsync(TransactionMode.Outbox, message, work);
        Assert.That(handled, Is.EqualTo(1));

        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, "DELETE FROM work_inbox WHERE handled_at < now()");
        await bench.HandleAsync(TransactionMode.Outbox, message, work);

        Assert.That(handled, Is.EqualTo(2));
    }

    /// <summary>The broker's flag says that its handling was cut off, which counts as a failure, here the last that it may have.</summary>
    [Test]
    public async Task Cut_off_when_its_handler_had_committed_it_is_not_given_up()
    {
        await using var bench = await OutboxBench.CreateAsync("rabbitmq");
        var sink = bench.OpenQueue("built");
        await sink.CreateAsync(CancellationToken.None);
        var message = (await bench.LeaveAsync(1, "built")).Single();
        await CutOffAsync(bench.Transport, message, failedAttempts: TransactionMode.Outbox.Attempts - 1);
        using var endpoint = bench.Build(_ => []);

        await endpoint.StartAsync();
        await bench.DrainedAsync();
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 0, "the outbox is empty");
        await endpoint.StopAsync();

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await sink.CountAsync(CancellationToken.None), Is.EqualTo(1));
        Assert.That(bench.Entered, Is.Zero, "handled again");
    }

    /// <summary>Its process was killed, and the server still has its commit to do.</summary>
    [Test]
    public async Task Cut_off_while_its_handler_still_commits_it_is_not_given_up()
    {
        await using var bench = await OutboxBench.CreateAsync("rabbitmq");
        await bench.LeaveAsync(0);
        var message = Guid.CreateVersion7();
        await using var killed = new NpgsqlConnection(bench.Databases.Widgets);
        await killed.OpenAsync();
        await using var committing = await killed.BeginTransactionAsync();
        await using var record = new NpgsqlCommand($"INSERT INTO {OutboxBench.Endpoint}_inbox (message_id) VALUES ('{message}')", killed);
        await record.ExecuteNonQueryAsync();
        await CutOffAsync(bench.Transport, message, failedAttempts: TransactionMode.Outbox.Attempts - 1);
        using var endpoint = bench.Build(_ => []);

        await endpoint.StartAsync();
        await Eventually.HoldsAsync(
            async () => await TestDatabases.CountWaitingForATransactionAsync(bench.Databases.Widgets) > 0
                || (await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Count > 0,
            "it waits for the commit, or gives the message up");
        await committing.CommitAsync();
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(bench.Entered, Is.Zero, "handled again");
    }

    /// <summary>As all sessions of a pool after a crash of the server; here one more failure would be the last that the message may have.</summary>
    [Test]
    public async Task Received_on_a_session_that_was_lost_before_it_is_not_given_up()
    {
        await using var bench = await OutboxBench.CreateAsync("postgresql");
        using var endpoint = bench.Build(_ => [], schedule: OutboxBench.Never);
        await endpoint.StartAsync();
        var message = (await bench.SendAsync(1)).Single();
        await bench.DrainedAsync();

        await TestDatabases.ExecuteAsync(
            bench.Databases.Queue,
            $"""
            ALTER TABLE {OutboxBench.Endpoint} ALTER failed_attempts SET DEFAULT {TransactionMode.Outbox.Attempts - 1};
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = '{new NpgsqlConnectionStringBuilder(bench.Databases.Widgets).Database}'
            """);
        await bench.SendAsync(message);
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(bench.Entered, Is.EqualTo(1));
    }

    [Test]
    public async Task Without_an_id_it_goes_to_the_error_queue()
    {
        await using var bench = await BareBench.CreateAsync();

        var errors = await bench.HandleAsync(TransactionMode.Outbox, Guid.Empty, (_, _) => Task.CompletedTask);

        Assert.That(errors.Single(), Has.Property("FailedAttempts").Zero.And.Property("Reason").Contains("has no GUID as id"));
    }

    /// <summary>Leaves a message among those that are tried again, as a process does that ends while it handles it.</summary>
    private static async Task CutOffAsync(string broker, Guid message, int failedAttempts)
    {
        var retries = new QueueNames(OutboxBench.Endpoint, QueueType.Classic).Retries;
        var outgoing = OutgoingMessage.Create(retries, new BuildWidget(message), message);
        await using var connection = await Broker.ConnectAsync(RabbitMqAddress.Parse(broker), "test", CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        await channel.BasicPublishAsync(
            "", retries, mandatory: true, AmqpMessage.PropertiesOf(outgoing).ForRetry(failedAttempts, TimeSpan.Zero), outgoing.Body);
        Assert.That(await channel.BasicGetAsync(retries, autoAck: false), Is.Not.Null);
    }
}
