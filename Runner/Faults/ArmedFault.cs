namespace Kit.Runner.Faults;

/// <summary>A fault that waits for what passes through a <see cref="FaultProxy"/>. It fires once, on the first connection that meets it.</summary>
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

    /// <summary>Completes when the fault has ended its connection, and both sides are told; or when it holds it.</summary>
    public Task Fired => fired.Task;

    internal Traffic Traffic { get; }

    internal Ending Ending { get; }

    internal CutMoment Moment { get; }

    internal IByteWatch Watch() => watch();

    /// <summary>Whether the caller is the first to meet it, and is to end its connection.</summary>
    internal bool TryClaim() => Interlocked.Exchange(ref claimed, 1) == 0;

    internal void Report() => fired.TrySetResult();
}
