using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>A handler that begins a send before the one before it has ended.</summary>
[Parallelizable]
public sealed class SendsAreAwaitedTogether
{
    private static IEnumerable<TestCaseData> Endpoints =>
    [
        .. BareBench.Modes.Select(mode => new TestCaseData(mode, LogFlush.Every, 1)),
        new TestCaseData(TransactionMode.TransactionsOff, LogFlush.Last, 1),
        new TestCaseData(TransactionMode.TransactionsOff, LogFlush.Every, 2),
    ];

    [TestCaseSource(nameof(Endpoints))]
    public async Task Both_arrive(TransactionMode mode, LogFlush flush, int batch)
    {
        await using var bench = await BareBench.CreateAsync();
        await using var next = new PostgreSqlQueue(bench.Databases.QueueOf(mode), "next");
        await next.CreateAsync(CancellationToken.None);

        var errors = await bench.HandleAsync(
            mode,
            (context, cancellationToken) => Task.WhenAll(
                context.SendAsync("next", "one", cancellationToken: cancellationToken),
                context.SendAsync("next", "other", cancellationToken: cancellationToken)),
            endpoint => endpoint.FlushLog(flush).ReceiveInBatches(batch));

        Assert.That(errors, Is.Empty);
        Assert.That(await next.CountAsync(CancellationToken.None), Is.EqualTo(2));
    }
}
