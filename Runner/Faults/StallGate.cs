namespace Kit.Runner.Faults;

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
        // Closed again before the waiting one got through: it waits on.
        while (closed is { } gate)
            await gate.Task.WaitAsync(cancellationToken);
    }
}
