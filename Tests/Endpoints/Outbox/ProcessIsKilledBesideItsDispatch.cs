using System.Diagnostics;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>
/// Where the process of an outbox stands when it is killed. Everywhere the row is committed, and the message is still in the queue or is done.
/// </summary>
public enum DispatchPoint
{
    /// <summary>Row, id and outgoing message are committed, nothing is dispatched.</summary>
    DataCommitted,

    /// <summary>The dispatch is written and not committed; queues in the database only, where it commits with the receive.</summary>
    Dispatching,

    /// <summary>Dispatched, and the outbox still holds it.</summary>
    Dispatched,

    /// <summary>Dispatched and forgotten; on RabbitMQ not yet acknowledged.</summary>
    Forgotten,
}

/// <summary>The outbox, its process killed at each point between the commit of its data and the end of the receive.</summary>
[Parallelizable]
public sealed class ProcessIsKilledBesideItsDispatch
{
    [TestCase("postgresql", DispatchPoint.DataCommitted, 1)]
    [TestCase("postgresql", DispatchPoint.Dispatching, 1)]
    [TestCase("postgresql", DispatchPoint.Dispatched, 2)]
    [TestCase("postgresql", DispatchPoint.Forgotten, 1)]
    [TestCase("rabbitmq", DispatchPoint.DataCommitted, 1, Category = ExhaustiveAttribute.Category)]
    [TestCase("rabbitmq", DispatchPoint.Dispatched, 2)]
    [TestCase("rabbitmq", DispatchPoint.Forgotten, 1, Category = ExhaustiveAttribute.Category)]
    public async Task One_row_without_a_second_handling_and_every_sent_message_has_the_same_id(string transport, DispatchPoint point, int sent)
    {
        var cell = Cell.All.Single(cell => cell.Name == $"bare.{transport}.outbox.ado");
        await using var databases = await TestDatabases.CreateAsync();
        await using var space = await TestTransport.OpenAsync(cell, databases);
        await using var queue = cell.Kind.OpenQueue(cell.Name, space.Address);
        await using var sink = cell.Kind.OpenQueue(SendingEndpoint.Sink, space.Address);
        await queue.CreateAsync(CancellationToken.None);
        await sink.CreateAsync(CancellationToken.None);
        await CreateTablesAsync(databases, cell);
        var message = new BuildWidget(Guid.CreateVersion7());
        await queue.PreloadAsync([message], CancellationToken.None);

        await KillAsync(cell, databases, space, point);
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1), "committed before the kill");
        await DrainAsync(cell, databases, space, queue);

        Assert.That(await databases.CountRowsAsync(message.MessageId), Is.EqualTo(1));
        var ids = await sink.ReadMessagesAsync(CancellationToken.None);
        Assert.That(ids, Has.Count.EqualTo(sent));
        Assert.That(ids.Distinct().ToList(), Has.Count.EqualTo(1), "the id that was drawn when the row was committed");
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq", Category = ExhaustiveAttribute.Category)]
    public async Task What_it_sent_goes_out_at_the_next_start_though_its_message_never_comes_again(string transport)
    {
        var cell = Cell.All.Single(cell => cell.Name == $"bare.{transport}.outbox.ado");
        await using var databases = await TestDatabases.CreateAsync();
        await using var space = await TestTransport.OpenAsync(cell, databases);
        await using var queue = cell.Kind.OpenQueue(cell.Name, space.Address);
        await using var sink = cell.Kind.OpenQueue(SendingEndpoint.Sink, space.Address);
        await queue.CreateAsync(CancellationToken.None);
        await sink.CreateAsync(CancellationToken.None);
        await CreateTablesAsync(databases, cell);
        var message = new BuildWidget(Guid.CreateVersion7());
        await queue.PreloadAsync([message], CancellationToken.None);

        await KillAsync(cell, databases, space, DispatchPoint.DataCommitted);
        await RemoveAsync(cell, space);
        await DrainAsync(cell, databases, space, queue);

        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Has.Count.EqualTo(1));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    /// <summary>Takes the message out of its queue by hand; a broker gives it back some time after its process was killed.</summary>
    private static async Task RemoveAsync(Cell cell, TestTransport space)
    {
        if (cell.Kind.Transport == TransportName.RabbitMq)
        {
            await using var connection = await Broker.ConnectAsync(RabbitMqAddress.Parse(space.Address), "test", CancellationToken.None);
            await using var channel = await connection.CreateChannelAsync();
            await Eventually.HoldsAsync(async () => await channel.QueuePurgeAsync(cell.Name) == 1, "the message is back and is removed");
        }
        else
        {
            await TestDatabases.ExecuteAsync(space.Address, $"DELETE FROM \"{cell.Name}\"");
        }
    }

    private static async Task CreateTablesAsync(TestDatabases databases, Cell cell)
    {
        await using var widgets = NpgsqlDataSource.Create(databases.Widgets);
        await new OutboxStore(widgets, cell.Name, TransactionMode.Outbox.Isolation, retention: null).CreateAsync(CancellationToken.None);
    }

    private static async Task KillAsync(Cell cell, TestDatabases databases, TestTransport space, DispatchPoint point)
    {
        await using var parked = await (point switch
        {
            DispatchPoint.DataCommitted => ParkedCommit.PrepareAsync(databases.Widgets, "widget", "INSERT"),
            DispatchPoint.Dispatching => ParkedCommit.PrepareAsync(databases.Queue, SendingEndpoint.Sink, "INSERT"),
            _ => ParkedCommit.PrepareAsync(databases.Widgets, $"{cell.Name}_outbox", "DELETE"),
        });
        using var process = Process.Start(new ProcessStartInfo("dotnet", ["exec", typeof(SendingEndpoint).Assembly.Location, SendingEndpoint.Command])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
        })!;
        try
        {
            await process.StandardInput.WriteLineAsync(JsonSerializer.Serialize(new SendingSpec(cell.Name, space.Address, databases.Widgets)));
            await process.StandardInput.FlushAsync();
            await Eventually.HoldsAsync(parked.IsReachedAsync, "a commit waits");
        }
        finally
        {
            process.Kill();
            await process.WaitForExitAsync();
        }

        await parked.EndAsync(commits: point is DispatchPoint.DataCommitted or DispatchPoint.Forgotten);
    }

    private static async Task DrainAsync(Cell cell, TestDatabases databases, TestTransport space, IMessageQueue queue)
    {
        var entered = 0;
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(host.Services, new EndpointSettings(cell.Name, space.Address, databases.Widgets, cell.Mode, Concurrency: 2), (_, _, _) =>
        {
            Interlocked.Increment(ref entered);
            return Task.CompletedTask;
        });
        using var endpoint = host.Build();
        await endpoint.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        var countWaiting = $"SELECT count(*)::int FROM \"{cell.Name}_outbox\"";
        await Eventually.HoldsAsync(async () => await TestDatabases.ScalarAsync(databases.Widgets, countWaiting) == 0, "the outbox is empty");
        await endpoint.StopAsync();
        Assert.That(entered, Is.Zero, "handled again");
    }
}
