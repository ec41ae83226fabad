namespace Kit.Runner.Measuring;

/// <summary>The effects that a database has committed, asked for all users at once.</summary>
/// <remarks>
/// One task asks, and pauses a millisecond between two questions; while no user waits, it asks nothing. A trigger with NOTIFY would tell at once, but
/// PostgreSQL lets only one transaction with a notification commit at a time, its flush included: that would change what is measured.
/// </remarks>
internal abstract class CommittedEffects : Effects
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(1);

    private readonly CancellationTokenSource ending = new();
    private Task asking = Task.CompletedTask;

    protected override Task Failure => asking;

    public override async Task StartAsync(bool isWaitedFor, CancellationToken cancellationToken)
    {
        if (!isWaitedFor)
            return;

        // Whoever cannot be reached fails the start.
        await AskAsync(Mark());
        asking = AskAgainAsync();
    }

    public override async ValueTask DisposeAsync()
    {
        await ending.CancelAsync();
        await asking.ContinueWith(_ => { }, TaskScheduler.Default);
        ending.Dispose();
    }

    /// <summary>Tells which effects exist above the marks.</summary>
    protected abstract Task AskAsync(long[] above);

    private async Task AskAgainAsync()
    {
        while (!ending.IsCancellationRequested)
        {
            if (LowestMark() is { } mark)
                await AskAsync(mark);
            await Task.Delay(Pause, CancellationToken.None);
        }
    }
}
