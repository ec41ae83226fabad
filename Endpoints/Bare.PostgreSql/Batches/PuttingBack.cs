using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>
/// Puts back messages that have left the queue and that no handler has begun: only this process has them. It tries until it succeeds, or until the host
/// has stopped waiting and some tries have failed. Then they are lost, and that is logged.
/// </summary>
/// <param name="open">Opens a session, also when the host no longer waits.</param>
/// <param name="firstPause">The pause after a failure; doubled each time, as in <see cref="BackOff"/>.</param>
/// <param name="recoverability">Logs what fails, and what is lost.</param>
internal sealed class PuttingBack(Func<Task<QueueSession>> open, TimeSpan firstPause, Recoverability recoverability)
{
    private const int TriesAtTheEnd = 3;

    /// <param name="own">The worker's session, used while it is open.</param>
    /// <param name="messages">The messages.</param>
    /// <param name="received">
    /// The transaction that received them, if it may have been rolled back: then they are in the queue. After a crash of the server they count as that.
    /// </param>
    /// <param name="cancellationToken">Cancelled when the host no longer waits.</param>
    /// <exception cref="Exception">The messages are lost.</exception>
    public async Task RunAsync(QueueSession own, IReadOnlyList<QueuedMessage> messages, RunningTransaction? received, CancellationToken cancellationToken)
    {
        if (messages.Count == 0)
            return;

        var backOff = new BackOff(firstPause);
        RunningTransaction? begun = null;
        for (var tries = 1; ; tries++)
        {
            try
            {
                await using var other = own.IsOpen ? null : await open();
                var session = other ?? own;
                // The answer to an earlier commit may have been lost.
                if (begun is { } mine && await ArePutBackAsync(mine, session, messages))
                    return;
                begun = null;
                if (received is { } theirs && !await HasCommittedAsync(theirs, session, isReceiver: other is null))
                    return;

                await using var transaction = await session.BeginAsync();
                var putBack = await RunningTransaction.ReadAsync(session.Connection);
                await session.PutBackAsync(messages);
                begun = putBack;
                await transaction.CommitAsync(CancellationToken.None);
                return;
            }
            catch (Exception failure) when (cancellationToken.IsCancellationRequested && tries >= TriesAtTheEnd)
            {
                foreach (var message in messages)
                    recoverability.ReportLost(message, failure);
                throw;
            }
            catch (Exception failure)
            {
                recoverability.ReportNotYetPutBack(messages.Count, failure);
                await Task.Delay(backOff.Next(), CancellationToken.None);
            }
        }
    }

    /// <summary>True if the receive has committed, because a handler committed it. No crash lies between a session and its own transaction.</summary>
    private static async Task<bool> HasCommittedAsync(RunningTransaction received, QueueSession session, bool isReceiver) =>
        await (isReceiver
            ? BranchDecisions.ReadAsync(session.Connection.CreateCommand(), received.Id, CancellationToken.None)
            : received.ReadOutcomeAsync(session.Connection, CancellationToken.None)) is BranchDecision.Committed;

    /// <summary>Whether an earlier try has put them back, or may have: a second time would double them.</summary>
    private async Task<bool> ArePutBackAsync(RunningTransaction earlier, QueueSession session, IReadOnlyList<QueuedMessage> messages)
    {
        var outcome = await earlier.ReadOutcomeAsync(session.Connection, CancellationToken.None);
        if (outcome is BranchDecision.Unknown)
        {
            var crash = new InvalidOperationException("The server has restarted meanwhile, and cannot say whether they were put back. Look in the queue.");
            foreach (var message in messages)
                recoverability.ReportLost(message, crash);
        }

        return outcome is BranchDecision.Committed or BranchDecision.Unknown;
    }
}
