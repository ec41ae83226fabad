using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Rounds;

/// <summary>Collects what is to be seen after a drain: rows, queues, prepared transactions.</summary>
internal static class EvidenceReader
{
    public static async Task<RoundEvidence> ReadAsync(
        IReadOnlyCollection<BuildWidget> warmUp, IReadOnlyCollection<BuildWidget> messages, IEnumerable<BuiltWidget> built, long seedRows,
        IRoundStore widgets, IMessageQueue queue, CancellationToken cancellationToken) => new()
        {
            Messages = messages.Select(message => message.MessageId).ToHashSet(),
            WarmUp = warmUp.Select(message => message.MessageId).ToHashSet(),
            Found = new History
            {
                // The runner waited for the transport to confirm each of them.
                Sendings = [.. warmUp.Concat(messages).Select(message => new Sending(message.MessageId, SendResult.Acked))],
                Attempts = [],
                Rows = [.. built.Select(widget => new WidgetRow(widget.Id, widget.MessageId, AttemptId: Guid.Empty))],
                Sink = [],
                Errors = [.. (await queue.ReadErrorsAsync(cancellationToken)).Select(error => error.MessageId)],
                Queue = [.. (await queue.ReadMessagesAsync(cancellationToken)).Select(id => new QueueEntry(id, Receivable: true))],
                Prepared = await widgets.ReadPreparedAsync(cancellationToken),
            },
            SeedRows = seedRows,
            TableRows = await widgets.CountAsync(cancellationToken),
        };
}
