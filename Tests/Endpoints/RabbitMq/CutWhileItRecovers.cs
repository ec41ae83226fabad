using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Wire;
using RabbitMQ.Client;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// RabbitMQ.Client recovers a connection, and it is cut again before the application's part of that recovery has ended. When this fails, finding 21 in
/// docs/reference/findings.md and its limit in FactsOfWolverine.cs can go.
/// </summary>
[Parallelizable]
public sealed class CutWhileItRecovers
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan ForManyRecoveries = 40 * Pause;

    [Test]
    public async Task Nobody_opens_the_connection_again()
    {
        await using var host = await TestVirtualHost.CreateAsync();
        var broker = RabbitMqAddress.Parse(host.Address).Amqp;
        await using var proxy = new FaultProxy(broker.Host, broker.Port);
        var factory = new ConnectionFactory { Uri = broker, NetworkRecoveryInterval = Pause };
        factory.Endpoint = new AmqpTcpEndpoint(broker.Host, proxy.Port);
        await using var connection = await factory.CreateConnectionAsync();
        var (shutdowns, recoveries) = (0, 0);
        connection.ConnectionShutdownAsync += (_, _) =>
        {
            Interlocked.Increment(ref shutdowns);
            return Task.CompletedTask;
        };
        connection.RecoverySucceededAsync += async (_, _) =>
        {
            await proxy.EndAllAsync(Ending.Cut);
            await Eventually.HoldsAsync(() => Volatile.Read(ref shutdowns) == 2, "the client has noticed the second cut");
            Interlocked.Increment(ref recoveries);
        };

        await proxy.EndAllAsync(Ending.Cut);

        await Eventually.HoldsAsync(() => Volatile.Read(ref recoveries) == 1, "the first recovery has ended");
        Assert.That(await Eventually.IsSoAsync(() => Task.FromResult(connection.IsOpen), ForManyRecoveries), Is.False);
    }
}
