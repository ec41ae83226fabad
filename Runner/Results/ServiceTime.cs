namespace Kit.Runner.Results;

/// <summary>
/// The time of a worker for a message, phase by phase, as the endpoint's own packages measured it during a drain; the second phase is in
/// <see cref="RoundDocument.SecondPhase"/>. It is not latency: the time that a message waits in its queue is not in it.
/// </summary>
/// <param name="Receive">From the worker's query to the handler's call; <see langword="null"/> if no package measures it.</param>
/// <param name="Handler">One attempt of the handler; <see langword="null"/> if no package measures it.</param>
/// <param name="Commit">From the handler's return until the message is settled; <see langword="null"/> if no package measures it.</param>
public sealed record ServiceTime(Durations? Receive, Durations? Handler, Durations? Commit)
{
    /// <returns><see langword="null"/> if nothing was measured.</returns>
    public static ServiceTime? Of(Durations? receive, Durations? handler, Durations? commit) =>
        (receive, handler, commit) is (null, null, null) ? null : new ServiceTime(receive, handler, commit);
}
