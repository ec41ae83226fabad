using System.Diagnostics.CodeAnalysis;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>Sends at once, and one after the other: a handler may send in parallel, and a connection executes one command at a time.</summary>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable",
    Justification = "A semaphore whose wait handle is never used holds no resource.")]
internal sealed class SendsInTurn(IQueueSession queue)
{
    private readonly SemaphoreSlim one = new(1, 1);

    public async Task SendAsync(OutgoingMessage message)
    {
        await one.WaitAsync();
        try
        {
            await queue.SendAsync([message]);
        }
        finally
        {
            one.Release();
        }
    }
}
