using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Faults.Experiments;

/// <summary>The numbers of a storm.</summary>
/// <param name="Cuts">Cuts of every connection of the endpoint.</param>
/// <param name="Seed">For its random moments.</param>
internal sealed record StormPlan(int Kills, int Cuts, int Seed)
{
    /// <summary>
    /// Crashes of the database server: alternately its processes are killed, or it is stopped without a checkpoint.
    /// </summary>
    public int ServerCrashes { get; init; }

    /// <summary>The endpoint's connections that commit without waiting for the log, against the needs of the mode.</summary>
    public Unflushed Unflushed { get; init; }

    /// <summary>The connections of <see cref="Unflushed"/> as results name them; <see langword="null"/>: none.</summary>
    public string? UnflushedName => Unflushed is Unflushed.None ? null : $"{Unflushed}".ToLowerInvariant();

    /// <summary>True if the seed was typed: a storm with another one is not the one that was asked for.</summary>
    public bool IsSeedTyped { get; init; }

    /// <summary>The numbers in words.</summary>
    public string Text => $"{Kills} kills, {Cuts} cuts, {ServerCrashes} server crashes"
        + (UnflushedName is { } name ? $", unflushed {name}" : "") + $", seed {Seed}";

    /// <summary>True if a storm was made by this plan. One that broke its promise can have ended before its last fault.</summary>
    public bool IsThatOf(StormFacts made) =>
        (made.Asked ?? Faults) == Faults
        && (made.Shortfall is not null || (made.Kills, made.Cuts, made.ServerCrashes) == (Kills, Cuts, ServerCrashes))
        && made.Unflushed == UnflushedName
        && (!IsSeedTyped || made.Seed == Seed);

    /// <summary>Faults of every kind.</summary>
    public int Faults => Kills + Cuts + ServerCrashes;

    public const int DefaultFaults = 5;

    /// <summary>Messages of a storm of few faults.</summary>
    public int FewestMessages { get; init; } = 2_000;

    private const int MessagesPerFault = 20;

    /// <summary><see cref="FewestMessages"/>, or more if each fault would meet too few.</summary>
    public int Messages => Math.Max(FewestMessages, (Faults + 1) * MessagesPerFault);
}
