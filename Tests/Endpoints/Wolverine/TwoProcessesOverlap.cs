using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Wolverine;

/// <summary>
/// In Solo, Wolverine frees the whole inbox when it starts, also what another process is handling: so the guide says to stop that process first.
/// </summary>
[Parallelizable]
public sealed class TwoProcessesOverlap
{
    private const string Queue = "work";

    [Test]
    public async Task In_outbox_what_the_older_one_has_in_memory_is_handled_once_more()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var kind = new WolverineOnPostgreSql();
        await using var queue = kind.OpenQueue(Queue, databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        var message = new BuildWidget(Guid.CreateVersion7());
        var builder = new WidgetBuilder(new AdoInsert());
        var entered = new TaskCompletionSource();
        var mayGoOn = new TaskCompletionSource();
        using var older = Build(async (handled, context, cancellationToken) =>
        {
            entered.TrySetResult();
            await mayGoOn.Task;
            await builder.BuildAsync(handled, context, cancellationToken);
        });
        using var newer = Build(builder.BuildAsync);
        await older.StartAsync();
        await queue.PreloadAsync([message], CancellationToken.None);
        await entered.Task.WaitAsync(Eventually.Limit);

        // The newer one frees the message, and one of the two takes it again.
        await newer.StartAsync();
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(databases.Widgets, "SELECT count(*)::int FROM wolverine_incoming_envelopes WHERE owner_id = 0") == 0,
            "the message is taken again");
        mayGoOn.SetResult();

        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync(message.MessageId) == 2, "its row is there twice");
        await newer.StopAsync();
        await older.StopAsync();

        IHost Build(HandleMessage handle)
        {
            var application = Host.CreateEmptyApplicationBuilder(settings: null);
            kind.AddEndpoint(
                application.Services,
                new EndpointSettings(Queue, databases.Widgets, databases.Widgets, TransactionMode.Outbox, Concurrency: 1) { PollsOften = true },
                handle);
            return application.Build();
        }
    }
}
