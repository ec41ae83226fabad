namespace Kit.Runner.Stage;

/// <summary>A worker of another machine is gone, with its handler processes. The round that it took part in does not count.</summary>
/// <param name="reason">The worker, and what has happened to it.</param>
public sealed class WorkerLostException(string reason) : Exception(reason);
