using System.Text.Json.Serialization;

namespace Kit.Runner.Rounds;

/// <summary>What a handler process says, one JSON line each, on standard output.</summary>
[JsonDerivedType(typeof(Ready), "ready")]
[JsonDerivedType(typeof(Progress), "progress")]
[JsonDerivedType(typeof(Stopped), "stopped")]
[JsonDerivedType(typeof(Failed), "failed")]
public abstract record HandlerEvent
{
    /// <summary>The specification was understood.</summary>
    public sealed record Ready : HandlerEvent;

    /// <param name="Handled">Handlers that returned since the endpoint started.</param>
    public sealed record Progress(int Handled) : HandlerEvent;

    /// <summary>The endpoint has stopped, its connections are closed.</summary>
    /// <param name="Report">What it did.</param>
    public sealed record Stopped(DrainReport Report) : HandlerEvent;

    /// <summary>The endpoint could not start, or broke.</summary>
    /// <param name="Reason">Why, for a user.</param>
    public sealed record Failed(string Reason) : HandlerEvent;
}

/// <summary>What a handler process saw between the endpoint's start and stop.</summary>
/// <param name="FirstEntryUtc">When the first handler was entered.</param>
/// <param name="Entries">How often a handler was entered.</param>
/// <param name="Handled">How often one returned.</param>
/// <param name="CompletionsUtc">When each returned, if the specification asked for it.</param>
/// <param name="SecondPhaseLags">Milliseconds from each decision to the end of its second phase, in modes that have one.</param>
public sealed record DrainReport(
    DateTimeOffset? FirstEntryUtc, int Entries, int Handled, IReadOnlyList<DateTimeOffset> CompletionsUtc, IReadOnlyList<double> SecondPhaseLags);
