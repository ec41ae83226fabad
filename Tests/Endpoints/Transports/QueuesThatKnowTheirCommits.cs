using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;

namespace Kit.Tests.Transports;

/// <summary>The queues of every framework on PostgreSQL, which tell a load when a message was committed.</summary>
[Parallelizable]
public sealed class QueuesThatKnowTheirCommits
{
    private static IEnumerable<TestCaseData> Cells =>
        from kind in EndpointKinds.All
        where kind is { Transport: TransportName.PostgreSql, InBuild.IsSupported: true }
        select new TestCaseData(Cell.All.First(cell => cell.Kind == kind && cell.IsPlain)).SetArgDisplayNames(kind.Framework);

    [TestCaseSource(nameof(Cells))]
    public async Task Tell_it_of_what_was_sent_behind_a_place(Cell cell)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var databases = await TestDatabases.CreateAsync();
        await using var place = await TestTransport.OpenAsync(cell, databases);
        await using var queue = cell.Kind.OpenQueue("sent", place.Address) as ICommittedQueue;
        Assert.That(queue, Is.Not.Null, "without it, a load of a handler that sends has no effect to wait for");
        await queue!.CreateAsync(CancellationToken.None);
        var (first, second) = (Guid.CreateVersion7(), Guid.CreateVersion7());

        await queue.PreloadAsync([new BuildWidget(first)], CancellationToken.None);
        var before = (await queue.ReadCommittedAsync(long.MinValue, CancellationToken.None)).Single();
        await queue.PreloadAsync([new BuildWidget(second)], CancellationToken.None);

        var behind = await queue.ReadCommittedAsync(before.Position, CancellationToken.None);
        var latest = await queue.ReadLatestAsync(1, CancellationToken.None);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(before.MessageId, Is.EqualTo(first));
            Assert.That(behind.Select(sent => sent.MessageId), Is.EqualTo([second]));
            Assert.That(behind.Single().CommittedAt, Is.GreaterThan(before.CommittedAt).And.EqualTo(DateTimeOffset.UtcNow).Within(TimeSpan.FromMinutes(1)));
            Assert.That(latest, Is.EqualTo(behind));
        }
    }
}
