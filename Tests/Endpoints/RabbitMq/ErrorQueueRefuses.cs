using Kit.Modes;
using Kit.Runner.Servers;

namespace Kit.Tests.RabbitMq;

/// <summary>The error queue takes nothing for a while.</summary>
[Parallelizable]
public sealed class ErrorQueueRefuses
{
    private const int Bad = 3;
    private const int Good = 10;

    private RabbitMqBench bench = null!;

    [SetUp]
    public async Task SetUp() => bench = await RabbitMqBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    private static IEnumerable<TestCaseData> Modes => RabbitMqBench.Acknowledging.Select(mode =>
        mode == TransactionMode.DtcOff ? new TestCaseData(mode) : new TestCaseData(mode).SetCategory(ExhaustiveAttribute.Category));

    // One worker: nobody else could go on while it waits.
    [TestCaseSource(nameof(Modes))]
    public async Task The_others_are_handled_and_nothing_is_handled_again(TransactionMode mode)
    {
        var bad = Enumerable.Range(0, Bad).Select(_ => Guid.CreateVersion7()).ToList();
        var retried = Guid.CreateVersion7();
        var attempts = 0;
        var handled = 0;
        var attemptsOfRetried = 0;
        using var endpoint = bench.Build(
            mode,
            (context, _) =>
            {
                if (bad.Contains(context.MessageId))
                {
                    attempts++;
                    throw new InvalidOperationException("no stock");
                }

                if (context.MessageId == retried && ++attemptsOfRetried == 1)
                    throw new InvalidOperationException("not at first");
                handled++;
                return Task.CompletedTask;
            },
            concurrency: 1);
        await endpoint.StartAsync();
        await using (await RefusingQueue.MakeAsync(bench.Address, ErrorQueue.Of(RabbitMqBench.Endpoint), CancellationToken.None))
        {
            foreach (var id in bad)
                await bench.PublishAsync("work", RabbitMqBench.Properties(id));
            await Eventually.HoldsAsync(() => bench.Warnings.Count("could not be moved to the error queue") == Bad, "all wait");
            foreach (var id in Enumerable.Range(1, Good - 1).Select(_ => Guid.CreateVersion7()).Prepend(retried))
                await bench.PublishAsync("work", RabbitMqBench.Properties(id));
            await Eventually.HoldsAsync(() => handled == Good, $"the others are handled: {bench.Warnings}");
        }

        await Eventually.HoldsAsync(
            async () => (await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Count == Bad, $"they are in the error queue: {bench.Warnings}");
        await endpoint.StopAsync();

        Assert.That(attempts, Is.EqualTo(Bad * mode.Attempts));
        var errors = await bench.Queue.ReadErrorsAsync(CancellationToken.None);
        Assert.That(errors.Select(error => error.MessageId), Is.EquivalentTo(bad));
        Assert.That(errors, Has.All.Property("FailedAttempts").EqualTo(mode.Attempts).And.All.Property("Reason").Contains("no stock"));
        Assert.That(bench.Warnings.Count("Next try"), Is.Zero, $"the session was lost: {bench.Warnings}");
        Assert.That(await bench.CountAsync("work_retry"), Is.Zero);
    }
}
