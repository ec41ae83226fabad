namespace Kit.Runner.Wire;

/// <summary>A fault that waits for certain traffic through a <see cref="FaultProxy"/>. It fires once, on the first connection with that traffic.</summary>
public sealed class ArmedFault
{
    private readonly TaskCompletionSource fired = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Func<IByteWatch> watch;
    private int claimed;

    internal ArmedFault(Traffic traffic, Ending ending, CutMoment moment, Func<IByteWatch> watch)
    {
        Traffic = traffic;
        Ending = ending;
        Moment = moment;
        this.watch = watch;
    }

    /// <summary>Completes when the fault has ended its connection and notified both sides, or when it holds the connection.</summary>
    public Task Fired => fired.Task;

    internal Traffic Traffic { get; }

    internal Ending Ending { get; }

    internal CutMoment Moment { get; }

    internal IByteWatch Watch() => watch();

    /// <summary>True if the caller is the first to meet it, and must end its connection.</summary>
    internal bool TryClaim() => Interlocked.Exchange(ref claimed, 1) == 0;

    internal void Report() => fired.TrySetResult();
}
