using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.Hosting;

namespace Kit.Endpoints.Cells;

/// <summary>
/// Lets a cell handle a few messages before it is measured, and observes the ambient transaction, the isolation level, the concurrency, and the
/// order of commit and acknowledgement. <see cref="CellLabel"/> compares that with the cell's label.
/// </summary>
/// <remarks>
/// The end of an ambient transaction raises an event. For a local transaction, the probe asks the handler's session whether it also received the
/// message. If not, a message that cannot be sent shows whether the row commits before the receive. The probe uses the queue that it is given, which
/// must be empty, and leaves its rows in the widgets' database.
/// </remarks>
public sealed class CellProbe : IAsyncDisposable
{
    private const int RoundsOfConcurrency = 5;

    /// <summary>For each message.</summary>
    internal static readonly TimeSpan Deadline = TimeSpan.FromSeconds(60);

    // Long enough for the last expected handler to arrive, and for one too many.
    private static readonly TimeSpan GatheringLimit = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan OneTooMany = TimeSpan.FromSeconds(1);

    private readonly Cell cell;
    private readonly EndpointSettings settings;
    private readonly IMessageQueue queue;
    private readonly HandleMessage handle;
    private readonly Onlooker onlooker;
    private readonly BuildWidget undeliverable = new(Guid.CreateVersion7());
    private readonly TaskCompletionSource ordered = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource gathered = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private CommitOrder? order;
    private string? scopeIsolation;
    private string? isolation;
    private int together;
    private int mostTogether;
    private int handled;

    private CellProbe(Cell cell, EndpointSettings settings)
    {
        this.cell = cell;
        this.settings = settings;
        queue = cell.Kind.OpenQueueOf(cell.Mode, settings.Queue, settings.Transport, settings.Widgets);
        // A mode does the same in every scenario, and the probe delays handlers, which would block the others if they shared a row.
        handle = (cell with { Scenario = Scenario.Insert }).CreateHandler(settings.Queue);
        onlooker = new Onlooker(cell.Kind, settings);
    }

    /// <param name="settings">The settings that will be measured, with the probe's own queue.</param>
    /// <exception cref="Exception">The framework's or driver's exception: the endpoint does not start, or a server cannot be reached.</exception>
    public static async Task<ProbeResult> RunAsync(Cell cell, EndpointSettings settings, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(cell);
        ArgumentNullException.ThrowIfNull(settings);
        await using var probe = new CellProbe(cell, settings);
        return await probe.RunAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await queue.DisposeAsync();
        await onlooker.DisposeAsync();
    }

    private async Task<ProbeResult> RunAsync(CancellationToken cancellationToken)
    {
        await queue.CreateAsync(cancellationToken);
        await queue.PreloadAsync(Messages(1), cancellationToken);
        var bytes = await queue.ReadBodySizeAsync(cancellationToken);

        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(application.Services, settings, HandleAsync);
        var host = application.Build();
        await using ((IAsyncDisposable)host)
        {
            await host.StartAsync(cancellationToken);
            var wasOrdered = await WithinAsync(ordered.Task, cancellationToken);
            if (order is { HasAmbientTransaction: false, IsRowVisibleInHandler: false, IsMessageLeftAfterCommit: null })
                await LookAfterCommitAsync(cancellationToken);
            if (wasOrdered)
            {
                await queue.PreloadAsync(Messages(RoundsOfConcurrency * settings.Concurrency), cancellationToken);
                await HandledAsync(1 + (RoundsOfConcurrency * settings.Concurrency), cancellationToken);
            }

            await host.StopAsync(cancellationToken);
        }

        var seen = new ProbeResult(order, scopeIsolation, isolation, mostTogether, bytes, []);
        return seen with { Disagreements = [.. CellLabel.DisagreementsWith(cell.Mode, settings.Concurrency, seen)] };
    }

    private static List<BuildWidget> Messages(int count) => [.. Enumerable.Range(0, count).Select(_ => new BuildWidget(Guid.CreateVersion7()))];

    private async Task HandledAsync(int messages, CancellationToken cancellationToken)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        deadline.CancelAfter(Deadline);
        while (Volatile.Read(ref handled) < messages && !deadline.IsCancellationRequested)
            await Task.Delay(TimeSpan.FromMilliseconds(10), cancellationToken);
    }

    private async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        if (message == undeliverable)
        {
            await handle(message, context, cancellationToken);
            await context.SendAsync($"{settings.Queue}_nowhere", new WidgetBuilt(message.MessageId), cancellationToken);
            return;
        }

        var now = Interlocked.Increment(ref together);
        InterlockedMax(now);
        try
        {
            if (ordered.Task.IsCompleted)
                await GatherAsync(now, cancellationToken);

            await handle(message, context, cancellationToken);
            if (!ordered.Task.IsCompleted)
                await LookAsync(message, context, cancellationToken);
        }
        finally
        {
            Interlocked.Decrement(ref together);
        }

        Interlocked.Increment(ref handled);
    }

    /// <summary>The first handlers wait for each other, and a little longer for one that should not arrive.</summary>
    private async Task GatherAsync(int now, CancellationToken cancellationToken)
    {
        if (now >= settings.Concurrency && !gathered.Task.IsCompleted)
        {
            await Task.Delay(OneTooMany, cancellationToken);
            gathered.TrySetResult();
        }

        await Task.WhenAny(gathered.Task, Task.Delay(GatheringLimit, cancellationToken));
        gathered.TrySetResult();
    }

    private async Task LookAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var transaction = Transaction.Current;
        scopeIsolation = transaction?.IsolationLevel.ToString();
        var connection = await context.GetAsync(cancellationToken);
        isolation = await onlooker.IsolationOfAsync(connection, cancellationToken);
        var (visible, left) = await FromOutsideAsync(message.MessageId, cancellationToken);
        order = new CommitOrder(transaction is not null, visible, left, IsMessageLeftAfterCommit: null);
        if (transaction is not null)
        {
            transaction.TransactionCompleted += (_, _) => LookAfterScope();
            return;
        }

        // The message was received in the handler's transaction, so one commit ends both.
        if (!visible && await onlooker.HasReceivedAsync(connection, cancellationToken))
            order = order with { IsMessageLeftAfterCommit = false };

        ordered.TrySetResult();
    }

    /// <summary>
    /// Handles a message whose send fails. If the row commits all the same, the handler's transaction is separate from the sends and the receive,
    /// which the first message showed to be still open, so they end after it. If they are one transaction, the row is rolled back and the message
    /// is given up.
    /// </summary>
    private async Task LookAfterCommitAsync(CancellationToken cancellationToken)
    {
        await queue.PreloadAsync([undeliverable], cancellationToken);
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        deadline.CancelAfter(Deadline);
        while (!deadline.IsCancellationRequested)
        {
            if (await onlooker.IsRowVisibleAsync(undeliverable.MessageId, cancellationToken))
            {
                order = order! with { IsMessageLeftAfterCommit = true };
                return;
            }

            if ((await queue.ReadErrorsAsync(cancellationToken)).Any(error => error.MessageId == undeliverable.MessageId))
                return;

            await Task.Delay(TimeSpan.FromMilliseconds(10), cancellationToken);
        }
    }

    /// <summary>Runs on the thread that ends the transaction and blocks it, so that nothing that follows has happened yet.</summary>
    private void LookAfterScope()
    {
        using (ExecutionContext.SuppressFlow())
        {
            var left = Task.Run(async () => (await queue.CountAsync(CancellationToken.None)) > 0).WaitAsync(Deadline).GetAwaiter().GetResult();
            order = order! with { IsMessageLeftAfterCommit = left };
        }

        ordered.TrySetResult();
    }

    private async Task<(bool RowVisible, bool MessageLeft)> FromOutsideAsync(Guid messageId, CancellationToken cancellationToken)
    {
        using var outside = new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);
        return (await onlooker.IsRowVisibleAsync(messageId, cancellationToken), await queue.CountAsync(cancellationToken) > 0);
    }

    private static async Task<bool> WithinAsync(Task task, CancellationToken cancellationToken)
    {
        try
        {
            await task.WaitAsync(Deadline, cancellationToken);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    private void InterlockedMax(int now)
    {
        for (var seen = Volatile.Read(ref mostTogether); now > seen; seen = Volatile.Read(ref mostTogether))
            Interlocked.CompareExchange(ref mostTogether, now, seen);
    }
}
