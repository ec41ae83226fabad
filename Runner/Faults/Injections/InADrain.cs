using Kit.Runner.Faults.Testbeds;

namespace Kit.Runner.Faults.Injections;

/// <summary>A fault that comes during a drain, and meets every message.</summary>
internal abstract class InADrain : Injection
{
    private const int Messages = 3_000;

    /// <summary>The share of the messages that have been attempted when it comes.</summary>
    public double Depth { get; init; } = 0.05;

    public override bool MeetsEveryMessage => true;

    /// <summary>Brings it about, and tells the evidence.</summary>
    /// <returns>The reason why it did not come; <see langword="null"/> if it did.</returns>
    protected abstract Task<string?> DisturbAsync(FaultScene scene, CancellationToken cancellationToken);

    protected override async Task<string?> MeetAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        await scene.SendOrdinaryAsync(cancellationToken, Messages);
        if (!await scene.UntilAsync(() => Task.FromResult(scene.StartedAttempts() > Messages * Depth), cancellationToken))
            return $"the drain did not reach {Depth:P0} of its messages within {FaultScene.Patience.TotalSeconds} s";

        var started = scene.StartedAttempts();
        if (await DisturbAsync(scene, cancellationToken) is { } why)
            return why;

        scene.Tell($"{started} of {Messages} messages had been attempted when the fault began");
        return started < Messages - Testbed.Concurrency ? null : "the drain had ended before the fault";
    }
}
