using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Modes;
using Kit.Tests.RabbitMq;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>A machine dies, or its network, and tells nobody: the sessions of its handlers stay until the server notices.</summary>
[Parallelizable]
public sealed class MachineIsGone
{
    private const string Keepalive =
        "SELECT concat_ws(' ', current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_interval'), current_setting('tcp_keepalives_count'))";

    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task The_server_probes_a_handlers_session_for_each_message(TransactionMode mode)
    {
        await using var bench = await BareBench.CreateAsync();
        await bench.QueueOf(mode).EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);
        var found = new List<string>();

        await bench.HandleAsync(mode, (context, cancellationToken) => NoteAsync(found, context, cancellationToken));

        Assert.That(found, Is.EqualTo(new[] { "30 10 3", "30 10 3" }));
    }

    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Modes))]
    public async Task Also_if_the_queue_is_on_RabbitMQ(TransactionMode mode)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        var found = new List<string>();

        await bench.HandleAsync(mode, (context, cancellationToken) => NoteAsync(found, context, cancellationToken));

        Assert.That(found, Is.EqualTo(new[] { "30 10 3", "30 10 3" }));
    }

    /// <summary>What the connection string says is set, too, and wins.</summary>
    [Test]
    public async Task Options_of_the_connection_string_stay()
    {
        await using var bench = await BareBench.CreateAsync();
        await bench.QueueOf(TransactionMode.DtcOff).EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);
        var found = new ConcurrentQueue<string>();
        using var host = bench.Build(
            TransactionMode.DtcOff,
            async (context, cancellationToken) =>
            {
                await using var read = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
                read.CommandText = "SELECT current_setting('application_name') || ' ' || current_setting('tcp_keepalives_idle')";
                found.Enqueue((string)(await read.ExecuteScalarAsync(cancellationToken))!);
            },
            data: bench.Databases.Widgets + ";Options=-c application_name=shop -c tcp_keepalives_idle=20");

        await host.StartAsync();
        await Eventually.HoldsAsync(() => !found.IsEmpty, "it is handled");
        await host.StopAsync();

        Assert.That(found, Is.EqualTo(new[] { "shop 20" }));
    }

    /// <summary>The machine has recorded the message's id, and its queue's session is gone.</summary>
    [Test]
    public async Task A_message_whose_id_it_holds_blocks_no_other()
    {
        await using var bench = await BareBench.CreateAsync();
        await bench.RestartAsync(TransactionMode.Outbox);
        var (held, other) = (Guid.CreateVersion7(), Guid.CreateVersion7());
        await bench.QueueOf(TransactionMode.Outbox).EnqueueAsync(
            [OutgoingMessage.Create("work", new BareBench.Todo(), held), OutgoingMessage.Create("work", new BareBench.Todo(), other)],
            CancellationToken.None);
        await using var gone = new NpgsqlConnection(bench.Databases.Widgets);
        await gone.OpenAsync();
        await using var handling = await gone.BeginTransactionAsync();
        await using var record = new NpgsqlCommand($"INSERT INTO work_inbox (message_id) VALUES ('{held}')", gone);
        await record.ExecuteNonQueryAsync();
        var handled = new ConcurrentQueue<(Guid Id, int Attempt)>();
        using var host = bench.Build(
            TransactionMode.Outbox,
            (context, _) =>
            {
                handled.Enqueue((context.MessageId, context.Attempt));
                return Task.CompletedTask;
            },
            data: bench.Databases.Widgets + ";Command Timeout=1");

        await host.StartAsync();
        await Eventually.HoldsAsync(() => !handled.IsEmpty, "the other is handled");
        await handling.RollbackAsync();
        await Eventually.HoldsAsync(() => handled.Count == 2, "both are handled");
        await host.StopAsync();

        Assert.That(handled, Is.EqualTo([(other, 1), (held, 1)]));
    }

    private static async Task NoteAsync(List<string> found, MessageContext context, CancellationToken cancellationToken)
    {
        await using var read = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
        read.CommandText = Keepalive;
        found.Add((string)(await read.ExecuteScalarAsync(cancellationToken))!);
    }
}
