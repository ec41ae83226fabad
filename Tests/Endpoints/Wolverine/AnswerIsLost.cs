using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Wolverine;

/// <summary>
/// Wolverine's outbox, when its connection is cut while the answer to the commit is on its way: finding 19 in docs/reference/findings.md. When this fails, a
/// version of Wolverine has mended it.
/// </summary>
[Parallelizable]
public sealed class AnswerIsLost
{
    private const string Queue = "work";

    [Test]
    public async Task To_the_commit_and_the_message_is_handled_again_although_it_is_marked_as_handled()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var proxy = new GatedPostgreSql(databases.Widgets);
        var kind = new WolverineOnPostgreSql();
        await using var queue = kind.OpenQueue(Queue, databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        var message = new BuildWidget(Guid.CreateVersion7());
        var builder = new WidgetBuilder(new AdoInsert());
        var entered = 0;
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        kind.AddEndpoint(
            application.Services,
            new EndpointSettings(Queue, proxy.Through, proxy.Through, TransactionMode.Outbox, Concurrency: 1) { PollsOften = true },
            async (handled, context, cancellationToken) =>
            {
                if (Interlocked.Increment(ref entered) == 1)
                    proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = handled.MessageId }, PointWay.Cut);
                await builder.BuildAsync(handled, context, cancellationToken);
            });
        using var host = application.Build();
        await host.StartAsync();

        await queue.PreloadAsync([message], CancellationToken.None);
        await Eventually.HoldsAsync(() => proxy.HasFired, "the connection is cut");
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync(message.MessageId) > 1, "the row is there twice");
        await host.StopAsync();

        Assert.That(await databases.CountRowsAsync(message.MessageId), Is.EqualTo(2));
        Assert.That(entered, Is.EqualTo(2));
    }
}
