using System.Data.Common;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>
/// Receives on one session and does everything else on another: for a receive that commits without waiting for the log, while what is sent or given
/// up waits.
/// </summary>
/// <param name="receives">The session that receives.</param>
/// <param name="open">Opens the other one, when it is needed for the first time, and again when it was lost.</param>
internal sealed class ReceiveApart(IQueueSession receives, Func<Task<IQueueSession>> open) : IQueueSession
{
    private IQueueSession? others;

    public bool IsOpen => receives.IsOpen;

    public async ValueTask<DbTransaction> BeginAsync() => await (await OthersAsync()).BeginAsync();

    public Task<QueuedMessage?> ReceiveAsync() => receives.ReceiveAsync();

    public async Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages) => await (await OthersAsync()).SendAsync(messages);

    public async Task RequeueAsync(QueuedMessage message, TimeSpan delay) => await (await OthersAsync()).RequeueAsync(message, delay);

    public async Task MoveToErrorsAsync(QueuedMessage message, Exception reason) => await (await OthersAsync()).MoveToErrorsAsync(message, reason);

    public async Task<QueuedMessage?> TakeAsync(QueuedMessage message) => await (await OthersAsync()).TakeAsync(message);

    public bool HasLostTransaction(Exception failure) => others?.HasLostTransaction(failure) ?? false;

    public async ValueTask DisposeAsync()
    {
        if (others is not null)
            await others.DisposeAsync();
        await receives.DisposeAsync();
    }

    private async Task<IQueueSession> OthersAsync()
    {
        if (others is { IsOpen: true })
            return others;

        if (others is not null)
            await others.DisposeAsync();
        return others = await open();
    }
}
