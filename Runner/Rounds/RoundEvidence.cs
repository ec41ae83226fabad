using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>Collects what is to be seen after a drain: rows, queues, prepared transactions.</summary>
internal static class RoundEvidence
{
    public static async Task<Evidence> ReadAsync(
        IEnumerable<BuildWidget> warmUp, IEnumerable<BuildWidget> messages, IEnumerable<BuiltWidget> built, long seedRows,
        IRoundStore widgets, IMessageQueue queue, CancellationToken cancellationToken) => new()
        {
            Messages = messages.Select(message => message.MessageId).ToHashSet(),
            WarmUp = warmUp.Select(message => message.MessageId).ToHashSet(),
            RowsByMessage = built.GroupBy(widget => widget.MessageId).ToDictionary(rows => rows.Key, rows => rows.Count()),
            ErrorQueue = [.. (await queue.ReadErrorsAsync(cancellationToken)).Select(error => error.MessageId)],
            Queue = await queue.ReadMessagesAsync(cancellationToken),
            PreparedTransactions = await widgets.CountPreparedAsync(cancellationToken),
            SeedRows = seedRows,
            TableRows = await widgets.CountAsync(cancellationToken),
        };
}
