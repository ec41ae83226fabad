namespace Kit.Runner.Faults.Injections;

/// <summary>
/// A fault that meets the chosen message alone: some ordinary messages are handled, then the fault is armed, the chosen message is sent, and when it has
/// fired, more ordinary ones follow.
/// </summary>
internal abstract class OneMessage : Injection
{
    /// <summary>Arms it. The messages before it are handled.</summary>
    protected virtual Task ArmAsync(FaultScene scene, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Sends the chosen message, with others if the fault needs them.</summary>
    protected virtual Task SendAsync(FaultScene scene, CancellationToken cancellationToken) => scene.Testbed.SendAsync([scene.Chosen], cancellationToken);

    /// <summary>Waits until it has fired, and tells the evidence.</summary>
    protected virtual Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken) => scene.HasFaultedAsync(cancellationToken);

    /// <summary>Does what follows from it, whether or not it has fired.</summary>
    /// <returns>The reason why the experiment shows nothing; <see langword="null"/> if it goes on.</returns>
    protected virtual Task<string?> AfterAsync(FaultScene scene, bool hasFired, CancellationToken cancellationToken) => Task.FromResult<string?>(null);

    protected override async Task<string?> MeetAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        await scene.SendOrdinaryAsync(cancellationToken);
        if (!await scene.AreHandledAsync(cancellationToken))
            return "the messages before the fault were not handled";

        await ArmAsync(scene, cancellationToken);
        await SendAsync(scene, cancellationToken);
        var hasFired = await HasFiredAsync(scene, cancellationToken);
        if (await AfterAsync(scene, hasFired, cancellationToken) is { } why)
            return why;

        // If the endpoint does not go on, the account says so: these stay in the queue.
        var after = await scene.SendOrdinaryAsync(cancellationToken);
        _ = await scene.UntilAsync(() => Task.FromResult(scene.Testbed.Journal.LinesOf(after[^1]).Count > 0), cancellationToken);
        return hasFired && !scene.HasMissedAKill ? null : "the fault did not fire";
    }
}
