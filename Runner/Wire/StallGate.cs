namespace Kit.Runner.Wire;

/// <summary>Lets bytes of one direction pass, or makes them wait.</summary>
internal sealed class StallGate
{
    private volatile TaskCompletionSource? closed;

    public void Close() => closed ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void Open()
    {
        var waiting = closed;
        closed = null;
        waiting?.SetResult();
    }

    /// <exception cref="OperationCanceledException">The connection ended while it waited.</exception>
    public async ValueTask PassAsync(CancellationToken cancellationToken)
    {
        // If it was closed again before the waiting caller got through, that caller keeps waiting.
        while (closed is { } gate)
            await gate.Task.WaitAsync(cancellationToken);
    }
}
