using System.Diagnostics.CodeAnalysis;

namespace Kit.Runner.Stage;

/// <summary>A worker of another machine is gone, with its handler processes. The round that it took part in does not count.</summary>
/// <param name="reason">The worker, and what has happened to it.</param>
[SuppressMessage("Design", "CA1064:Exceptions should be public", Justification = "It goes from a round's handlers to the run, and no further.")]
internal sealed class WorkerLostException(string reason) : Exception(reason);
