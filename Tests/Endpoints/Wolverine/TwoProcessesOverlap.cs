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
        var enteredAgain = new TaskCompletionSource();
        var mayGoOn = new TaskCompletionSource();
        using var older = Build();
        using var newer = Build();
        await older.StartAsync();
        await queue.PreloadAsync([message], CancellationToken.None);
        await entered.Task.WaitAsync(Eventually.Limit);

        // The newer one frees the message, and one of the two takes it again.
        await newer.StartAsync();
        await enteredAgain.Task.WaitAsync(Eventually.Limit);
        mayGoOn.SetResult();

        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync(message.MessageId) == 2, "its row is there twice");
        await newer.StopAsync();
        await older.StopAsync();

        async Task HandleAsync(BuildWidget handled, IMessageContext context, CancellationToken cancellationToken)
        {
            if (!entered.TrySetResult())
            {
                enteredAgain.TrySetResult();
            }

            await mayGoOn.Task;
            await builder.BuildAsync(handled, context, cancellationToken);
        }

        IHost Build()
        {
            var application = Host.CreateEmptyApplicationBuilder(settings: null);
            kind.AddEndpoint(
                application.Services,
                new EndpointSettings(Queue, databases.Widgets, databases.Widgets, TransactionMode.Outbox, Concurrency: 2) { PollsOften = true },
                HandleAsync);
            return application.Build();
        }
    }
}
