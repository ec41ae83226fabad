using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Rounds;

/// <summary>Collects the evidence after a drain: rows, queues, prepared transactions.</summary>
internal static class EvidenceReader
{
    /// <param name="scenario">What the handler did.</param>
    /// <param name="warmUp">The messages handled before the clock started.</param>
    /// <param name="messages">The measured messages.</param>
    /// <param name="handled">How often a handler returned, for both; <see langword="null"/>: nobody counted.</param>
    /// <param name="built">The rows that are not seeded.</param>
    /// <param name="seedRows">How many are seeded.</param>
    /// <param name="widgets">The round's databases.</param>
    /// <param name="queue">The queue that was drained.</param>
    /// <param name="sinks">The queues that the handler sent to, or that have subscribed to what it published.</param>
    /// <param name="cancellationToken">Ends the reading.</param>
    public static async Task<RoundEvidence> ReadAsync(
        Scenario scenario, IReadOnlyCollection<BuildWidget> warmUp, IReadOnlyCollection<BuildWidget> messages, int? handled,
        IEnumerable<BuiltWidget> built, long seedRows, IRoundStore widgets, IMessageQueue queue, Sinks sinks, CancellationToken cancellationToken) => new()
        {
            Messages = messages.Select(message => message.MessageId).ToHashSet(),
            WarmUp = warmUp.Select(message => message.MessageId).ToHashSet(),
            Found = new History
            {
                // The transport confirmed each of them to the runner.
                Sendings = [.. warmUp.Concat(messages).Select(message => new Sending(message.MessageId, SendResult.Acked))],
                Attempts = [],
                Rows = [.. built.Select(widget => new WidgetRow(widget.Id, widget.MessageId, AttemptId: Guid.Empty))],
                Sink = await sinks.ReadAsync(warmUp.Concat(messages), cancellationToken),
                Errors = [.. (await queue.ReadErrorsAsync(cancellationToken)).Select(error => error.MessageId)],
                Queue = [.. (await queue.ReadMessagesAsync(cancellationToken)).Select(id => new QueueEntry(id, Receivable: true))],
                Prepared = await widgets.ReadPreparedAsync(cancellationToken),
            },
            Handled = handled,
            RowsPerMessage = scenario.Rows,
            Deliveries = scenario.Deliveries,
            SeedRows = seedRows,
            TableRows = await widgets.CountAsync(cancellationToken),
            Counted = await widgets.ReadTotalAsync(scenario, cancellationToken),
        };
}
