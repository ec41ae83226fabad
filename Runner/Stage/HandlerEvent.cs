using System.Text.Json.Serialization;
using Kit.Runner.Measuring;

namespace Kit.Runner.Stage;

/// <summary>Events that a handler process reports on standard output, as one JSON line each.</summary>
[JsonDerivedType(typeof(HandlerReady), "ready")]
[JsonDerivedType(typeof(HandlerProgress), "progress")]
[JsonDerivedType(typeof(HandlerStopped), "stopped")]
[JsonDerivedType(typeof(HandlerFailed), "failed")]
internal abstract record HandlerEvent;

/// <summary>The specification was understood.</summary>
internal sealed record HandlerReady : HandlerEvent;

/// <param name="Entered">Handlers that were entered since the endpoint started.</param>
/// <param name="Handled">Handlers that returned since then.</param>
/// <param name="Failed">Handlers that threw since then: each is an attempt, and not a message.</param>
/// <param name="HeapBytes">The managed heap after the last collection; 0 before the first.</param>
internal sealed record HandlerProgress(int Entered, int Handled, int Failed, long HeapBytes) : HandlerEvent;

/// <summary>The endpoint has stopped, its connections are closed.</summary>
internal sealed record HandlerStopped(DrainReport Report) : HandlerEvent;

/// <summary>The endpoint could not start, or broke.</summary>
/// <param name="Reason">For a user.</param>
internal sealed record HandlerFailed(string Reason) : HandlerEvent;
