using Kit.Endpoints.Bare;
using Kit.Modes;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.RabbitMq;

/// <summary>Redelivered messages come while the handlers' database is away: each waits without an attempt, and the session to the broker goes on.</summary>
[Parallelizable]
public sealed class DatabaseIsAwayFromRedeliveries
{
    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Acknowledging))]
    public async Task The_session_goes_on_and_they_are_handled_later(TransactionMode mode)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        var server = new NpgsqlConnectionStringBuilder(bench.Widgets);
        await using var proxy = new FaultProxy(server.Host!, server.Port);
        (server.Host, server.Port, server.Pooling) = ("127.0.0.1", proxy.Port, false);
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        var attempts = new List<int>();
        using var endpoint = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                await context.GetConnectionAsync(cancellationToken);
                attempts.Add(context.Attempt);
            },
            configure: configured => configured.UseRabbitMq(bench.Address.Text, server.ConnectionString));

        await bench.OnChannelAsync(async channel =>
        {
            var taken = await channel.BasicGetAsync("work", autoAck: false);
            await endpoint.StartAsync();
            proxy.RefuseConnections();
            await proxy.EndAllAsync(Ending.Reset);
            return taken;
        });
        await Eventually.HoldsAsync(
            () => bench.Warnings.Count("refuses a connection") + bench.Warnings.Count("Next try") > 2, "it is refused, or the session ends");
        proxy.AcceptConnections();
        await Eventually.HoldsAsync(async () => await bench.Queue.CountAsync(CancellationToken.None) == 0, $"the queue is empty: {bench.Warnings}");
        await endpoint.StopAsync();

        Assert.That(bench.Warnings.Count("Next try"), Is.Zero, $"{bench.Warnings}");
        Assert.That(attempts, Is.EqualTo(new[] { 1 }));
    }
}
