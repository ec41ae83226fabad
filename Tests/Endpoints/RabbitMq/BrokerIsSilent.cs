using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Modes;
using Kit.Runner.Wire;

namespace Kit.Tests.RabbitMq;

/// <summary>A broker that is frozen, or cut off without a word.</summary>
[Parallelizable]
public sealed class BrokerIsSilent
{
    // More than two turns in which a worker waits for a message.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(12);

    /// <summary>Nothing is acknowledged, so that the endpoint asks the broker nothing but this.</summary>
    [Test]
    public async Task In_transactions_off_its_silence_does_not_count_as_an_answer()
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        var broker = bench.Address.Amqp;
        await using var proxy = new FaultProxy(broker.Host, broker.Port);
        var address = bench.Address.Text.Replace(broker.Authority, $"127.0.0.1:{proxy.Port}", StringComparison.Ordinal);
        EndpointStatus status = null!;
        using var host = bench.Build(
            TransactionMode.TransactionsOff,
            (_, _) => Task.CompletedTask,
            configure: endpoint => status = endpoint.UseRabbitMq(address, bench.Widgets).Status);
        await host.StartAsync();
        await Eventually.HoldsAsync(() => status.SinceReceive is not null, "the broker answers");

        proxy.Stall(Traffic.Both);
        try
        {
            await Eventually.HoldsAsync(() => status.SinceReceive > Patience, "no worker has an answer");
            Assert.That(bench.Warnings.Lines, Is.Empty, "the connection is not given up");
        }
        finally
        {
            proxy.Resume(Traffic.Both);
        }

        await Eventually.HoldsAsync(() => status.SinceReceive < Patience, "the broker answers again");
        await host.StopAsync();
    }
}
