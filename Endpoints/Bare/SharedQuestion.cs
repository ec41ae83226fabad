using System.Diagnostics.CodeAnalysis;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Asks once for all workers that ask at the same time: each question opens a connection. An answer is given to those who came before its question began, for
/// an earlier one can be out of date.
/// </summary>
/// <param name="ask">Asks.</param>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable",
    Justification = "A semaphore whose wait handle is never used holds no resource.")]
internal sealed class SharedQuestion(Func<CancellationToken, Task<bool>> ask)
{
    private readonly SemaphoreSlim turn = new(1);
    private int begun;
    private (int Question, bool Answer) last;

    /// <param name="cancellationToken">Cancels the wait, or the question that this caller has begun: the next one in the row then asks.</param>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    public async Task<bool> AskAsync(CancellationToken cancellationToken)
    {
        var seen = Volatile.Read(ref begun);
        await turn.WaitAsync(cancellationToken);
        try
        {
            if (last.Question > seen)
                return last.Answer;

            var question = Interlocked.Increment(ref begun);
            var answer = await ask(cancellationToken);
            last = (question, answer);
            return answer;
        }
        finally
        {
            turn.Release();
        }
    }
}
