namespace Kit.Runner.Results;

/// <summary>A worker on another machine that took part in a run.</summary>
/// <param name="Number">In the order in which they joined, from 1. A run that is resumed counts from 1 again.</param>
public sealed record WorkerFacts(int Number, HostFacts Host);
