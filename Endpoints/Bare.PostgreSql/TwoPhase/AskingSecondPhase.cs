using System.Diagnostics;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The second phase where a framework commits the receive and does not report the outcome: asks the server for the decision, and then ends the
/// branch. While it works, more questions arrive; together they are its next batch. So a busy endpoint asks once for many messages.
/// </summary>
internal sealed partial class AskingSecondPhase : IAsyncDisposable
{
    private const int LargestBatch = 64;

    private readonly NpgsqlDataSource data;
    private readonly Slots slots;
    private readonly ILogger log;
    private readonly Channel<Question> questions = Channel.CreateUnbounded<Question>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Task answering;

    /// <param name="data">The database of the branches, with connections that no handler can hold.</param>
    /// <param name="slots">Notes each branch that has ended or is left, and how many slots are in use.</param>
    /// <param name="log">Logs branches that are left to recovery.</param>
    public AskingSecondPhase(NpgsqlDataSource data, Slots slots, ILogger log)
    {
        this.data = data;
        this.slots = slots;
        this.log = log;
        answering = AnswerAsync();
    }

    /// <summary>Asks for the decision, and ends the branch accordingly.</summary>
    /// <param name="id">Names the receive. Its transaction must have ended as far as the client can know.</param>
    /// <param name="isPrepared">Whether there is a branch, which then holds a slot.</param>
    /// <returns>
    /// The decision, as soon as it is known. <see cref="BranchDecision.Undecided"/> or <see cref="BranchDecision.Unknown"/> if the server did not
    /// say; then the branch is left to recovery.
    /// </returns>
    public Task<BranchDecision> FinishAsync(BranchId id, bool isPrepared)
    {
        var question = new Question(
            id, isPrepared, Stopwatch.GetTimestamp(), new TaskCompletionSource<BranchDecision>(TaskCreationOptions.RunContinuationsAsynchronously));
        if (!questions.Writer.TryWrite(question))
            Leave(question);

        return question.Decision.Task;
    }

    /// <summary>Ends the waiting branches, then stops.</summary>
    public async ValueTask DisposeAsync()
    {
        questions.Writer.TryComplete();
        await answering;
    }

    private async Task AnswerAsync()
    {
        var batch = new List<Question>();
        while (await questions.Reader.WaitToReadAsync())
        {
            batch.Clear();
            while (batch.Count < LargestBatch && questions.Reader.TryRead(out var question))
                batch.Add(question);

            await AnswerAsync(batch);
        }
    }

    private async Task AnswerAsync(List<Question> batch)
    {
        var ends = new Dictionary<Question, string>();
        try
        {
            await using var connection = await data.OpenConnectionAsync();
            var (decisions, used) = await ReceivesAsDecisions.ReadAsync(connection, batch.Select(question => question.Id));
            foreach (var (question, decision) in batch.Zip(decisions))
            {
                if (question.IsPrepared && BranchDecisions.StatementOf(decision, question.Id) is { } end)
                    ends.Add(question, end);
                else if (question.IsPrepared)
                    LeaveUndecided(question, decision);

                question.Decision.TrySetResult(decision);
            }

            await BranchEnds.ExecuteAsync(connection, ends.Values);
            slots.Saw(used - ends.Count);
            foreach (var question in ends.Keys)
            {
                if (question.Decision.Task.Result is BranchDecision.Committed)
                    SecondPhaseLag.Record(question.Closed);
                slots.Return(question.Id);
            }
        }
        catch (Exception failure)
        {
            var left = batch.Where(question => !question.Decision.Task.IsCompleted || ends.ContainsKey(question)).ToList();
            foreach (var question in left)
                Leave(question);

            LogLeft(left.Count(question => question.IsPrepared), failure.Message);
        }
    }

    private void Leave(Question question)
    {
        if (question.IsPrepared)
            slots.Leave(question.Id);
        question.Decision.TrySetResult(BranchDecision.Unknown);
    }

    private void LeaveUndecided(Question question, BranchDecision decision)
    {
        slots.Leave(question.Id);
        LogUndecided(question.Id.ToString(), decision);
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Count} branches are left to recovery, except those that have already ended: {Reason}")]
    private partial void LogLeft(int count, string reason);

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "Branch {Branch} is left to recovery: the server reports its receive as {Decision}. Expected: committed or aborted.")]
    private partial void LogUndecided(string branch, BranchDecision decision);

    /// <param name="Id">Names the receive.</param>
    /// <param name="IsPrepared">Whether there is a branch.</param>
    /// <param name="Closed">When the transport had closed the receive's connection, as returned by <see cref="Stopwatch.GetTimestamp"/>.</param>
    /// <param name="Decision">The answer.</param>
    private sealed record Question(BranchId Id, bool IsPrepared, long Closed, TaskCompletionSource<BranchDecision> Decision);
}
