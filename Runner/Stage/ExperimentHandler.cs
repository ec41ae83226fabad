using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>
/// The handler of the experiments: by default two inserts and one send or publish, so that half-done work is visible. It records each step in a journal that
/// outlives its process, and follows its script at the chosen message. Like every handler of the kit, it neither commits nor knows the mode.
/// </summary>
internal sealed class ExperimentHandler(ExperimentSpec spec, IEndpointKind kind) : IExperimentHandler
{
    /// <summary>The rows of an attempt, by default.</summary>
    public const int RowsPerAttempt = 2;

    /// <summary>Journal lines of an attempt without a fault: started, before the first insert, after each, after the send, returned.</summary>
    public const int LinesPerAttempt = 6;

    private readonly AttemptJournal journal = new(spec.Journal);
    private readonly IMessageQueue sink = kind.OpenQueue(spec.Sink, spec.Transport);
    private readonly ConcurrentDictionary<Guid, int> attempts = new();

    public async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var isFirst = attempts.AddOrUpdate(message.MessageId, 1, (_, made) => made + 1) == 1;
        var itself = new Attempt(journal, message.MessageId);
        var attempt = new ScriptedAttempt(itself, spec, message, sink, () => attempts[message.MessageId]);
        await ReachAsync(AttemptPoint.Started);

        attempt.Connection = await context.GetAsync(cancellationToken);
        await ReachAsync(AttemptPoint.BeforeInsert);
        attempt.FirstRow = WidgetId.Next();
        await itself.InsertAsync(attempt.Connection, attempt.FirstRow, cancellationToken);
        await ReachAsync(AttemptPoint.AfterFirstInsert);
        for (var rows = 1; rows < spec.Shape.Inserts && !attempt.HasInserted; rows++)
            await itself.InsertAsync(attempt.Connection, WidgetId.Next(), cancellationToken);
        await ReachAsync(AttemptPoint.AfterSecondInsert);
        if (spec.Shape.ThrowsAtFirst && isFirst)
            throw attempt.Intended("throws before its sends");

        if (spec.Shape.Subscribers > 0)
            await context.PublishAsync(new WidgetReady(message.MessageId), cancellationToken);
        for (var sent = 0; sent < spec.Shape.Sends; sent++)
            await context.SendAsync(attempt.Destination, attempt.Outgoing, cancellationToken);
        await ReachAsync(AttemptPoint.AfterSend);
        itself.Note(AttemptPoint.Returned);

        async Task ReachAsync(AttemptPoint point)
        {
            var isChosen = message.MessageId == spec.Chosen;
            await itself.ReachAsync(point, isChosen && spec.Script.ParksAt == point);
            foreach (var act in isChosen ? spec.Script.Acts.Where(act => act.At == point && (isFirst || !act.IsOnce)) : [])
                await act.Act.DoAsync(attempt, cancellationToken);
        }
    }

    public ValueTask DisposeAsync()
    {
        journal.Dispose();
        return sink.DisposeAsync();
    }
}
