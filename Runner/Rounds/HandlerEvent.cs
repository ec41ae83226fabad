using System.Text.Json.Serialization;

namespace Kit.Runner.Rounds;

/// <summary>What a handler process reports on standard output, as one JSON line each.</summary>
[JsonDerivedType(typeof(HandlerReady), "ready")]
[JsonDerivedType(typeof(HandlerProgress), "progress")]
[JsonDerivedType(typeof(HandlerStopped), "stopped")]
[JsonDerivedType(typeof(HandlerFailed), "failed")]
internal abstract record HandlerEvent;

/// <summary>The specification was understood.</summary>
internal sealed record HandlerReady : HandlerEvent;

/// <param name="Handled">Handlers that returned since the endpoint started.</param>
internal sealed record HandlerProgress(int Handled) : HandlerEvent;

/// <summary>The endpoint has stopped, its connections are closed.</summary>
/// <param name="Report">What it did.</param>
internal sealed record HandlerStopped(DrainReport Report) : HandlerEvent;

/// <summary>The endpoint could not start, or broke.</summary>
/// <param name="Reason">Why, for a user.</param>
internal sealed record HandlerFailed(string Reason) : HandlerEvent;

/// <summary>What a handler process saw between the endpoint's start and stop.</summary>
/// <param name="FirstEntryUtc">When the first handler was entered.</param>
/// <param name="Entries">How often a handler was entered.</param>
/// <param name="Handled">How often one returned.</param>
/// <param name="CompletionsUtc">When each returned, if the specification asked for it.</param>
/// <param name="SecondPhaseLags">Milliseconds from each decision to the end of its second phase, in modes that have one.</param>
/// <param name="Promotions">Transactions that were promoted to a distributed one since the first entry.</param>
internal sealed record DrainReport(
    DateTimeOffset? FirstEntryUtc, int Entries, int Handled,
    IReadOnlyList<DateTimeOffset> CompletionsUtc, IReadOnlyList<double> SecondPhaseLags, int Promotions)
{
    /// <summary>How long each batch took from its receive to its commit, in ms; empty without batches.</summary>
    public IReadOnlyList<double> BatchDurations { get; init; } = [];

    /// <summary>Whether one handler waited until all other messages were handled; <see langword="null"/>: none had to.</summary>
    public bool? OneHasWaited { get; init; }

    public static DrainReport Nothing { get; } = new(FirstEntryUtc: null, Entries: 0, Handled: 0, CompletionsUtc: [], SecondPhaseLags: [], Promotions: 0);
}
