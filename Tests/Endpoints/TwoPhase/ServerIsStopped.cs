using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Servers;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>full-dtc, its server stopped with <c>-m immediate</c> in the middle of a drain and started again, on a server of the test's own.</summary>
[Parallelizable]
public sealed class ServerIsStopped
{
    private const int Stops = 2;
    private const int MessagesPerStop = 300;

    // Many are left after the last stop, whoever is slow, and few of them are drained.
    private const int Messages = 3_000;

    [Test]
    public async Task Each_message_has_exactly_one_row_and_nothing_stays_prepared()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        var databases = await TestDatabases.CreateAsync(new NpgsqlConnectionStringBuilder(server.ConnectionString) { Pooling = false }.ConnectionString);
        var cell = Cell.All.Single(cell => cell.Name == "bare.postgresql.full-dtc.ado");
        await using var queue = cell.Kind.OpenQueue(cell.Name, databases.Queue);
        await queue.CreateAsync(CancellationToken.None);
        var messages = Enumerable.Range(0, Messages).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
        await queue.PreloadAsync(messages, CancellationToken.None);
        var builder = new WidgetBuilder(cell.Access.CreateInsert());
        var handled = 0;
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(
            host.Services,
            new EndpointSettings(cell.Name, WithPool(databases.Queue), WithPool(databases.Widgets), cell.Mode, Concurrency: 2),
            async (message, context, cancellationToken) =>
            {
                await builder.BuildAsync(message, context, cancellationToken);
                Interlocked.Increment(ref handled);
            });
        using var endpoint = host.Build();
        await endpoint.StartAsync();

        for (var stop = 1; stop <= Stops; stop++)
        {
            await Eventually.HoldsAsync(() => Volatile.Read(ref handled) >= stop * MessagesPerStop, "the drain comes on");
            await server.StopImmediatelyAsync(CancellationToken.None);
            await server.RestartAsync(CancellationToken.None);
        }

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.GreaterThan(0), "the last stop must come before the last message");
        var deleted = await TwoPhaseBench.DeleteBehindFirstAsync(databases.Queue, cell.Name);
        messages.RemoveAll(message => deleted.Contains(message.MessageId));
        await Eventually.HoldsAsync(
            async () => await queue.CountAsync(CancellationToken.None) == 0 && await databases.CountPreparedAsync() == 0,
            "the drain ends");
        await endpoint.StopAsync();

        var rows = await databases.ReadRowsByMessageAsync();
        Assert.Multiple(() =>
        {
            Assert.That(messages.Where(message => !rows.ContainsKey(message.MessageId)), Is.Empty, "lost");
            Assert.That(rows.Where(row => row.Value > 1), Is.Empty, "doubled");
            Assert.That(rows, Has.Count.EqualTo(messages.Count));
        });
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    private static string WithPool(string connection) => new NpgsqlConnectionStringBuilder(connection) { Pooling = true }.ConnectionString;
}
