using System.Collections.Concurrent;
using Kit.Handlers;

namespace Kit.Runner.Stage;

/// <summary>Lets one handler of a drain wait, after its work, until all other messages are handled.</summary>
internal sealed class SlowHandler(HandleMessage handle, int messages)
{
    private readonly ConcurrentDictionary<Guid, bool> others = new();
    private readonly TaskCompletionSource allOthers = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int isTaken;

    /// <summary>True if a handler has waited until all other messages were handled.</summary>
    public bool HasWaited { get; private set; }

    public async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        await handle(message, context, cancellationToken);
        // The first that has done its work, not the first that begins: if that one failed, no handler would wait.
        if (Interlocked.Exchange(ref isTaken, 1) == 0)
        {
            if (messages > 1)
                await allOthers.Task.WaitAsync(cancellationToken);
            HasWaited = true;
        }
        else if (others.TryAdd(message.MessageId, true) && others.Count == messages - 1)
        {
            allOthers.TrySetResult();
        }
    }
}
