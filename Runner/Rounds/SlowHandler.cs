using Kit.Handlers;

namespace Kit.Runner.Rounds;

/// <summary>Lets the handler of the first message of a drain wait, when its work is done, until all others are handled.</summary>
/// <param name="handle">Does the work.</param>
/// <param name="isLastLeft">Whether all others are handled.</param>
internal sealed class SlowHandler(HandleMessage handle, Func<bool> isLastLeft)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    private int entries;

    public async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var isFirst = Interlocked.Increment(ref entries) == 1;
        await handle(message, context, cancellationToken);
        while (isFirst && !isLastLeft())
            await Task.Delay(Pause, cancellationToken);
    }
}
