using System.Text.Json.Serialization;
using Kit.Modes;

namespace Kit.Runner.Results.Views;

/// <summary>A cell: its speed and what its storms did to its messages, never one without the other.</summary>
public sealed record ViewRow
{
    private static readonly IReadOnlyList<string> Speaking = [AxisName.Framework, AxisName.Transport, AxisName.Access, AxisName.Scenario];

    /// <summary>The cell's name with dots.</summary>
    public required string Id { get; init; }

    /// <summary>The cell's value on every axis of the table.</summary>
    public required IReadOnlyDictionary<string, string> Cell { get; init; }

    /// <summary>The worst that its storms did; the table is sorted by it.</summary>
    public required Loss Loss { get; init; }

    /// <summary>Why nothing is proven; <see langword="null"/> if something is.</summary>
    public required string? WhyUnproven { get; init; }

    /// <summary>Its speed; <see langword="null"/> if no round of it counts.</summary>
    public required ViewSpeed? Speed { get; init; }

    /// <summary>
    /// Its place by speed among the cells that differ only in the mode and lost the same; <see langword="null"/> where there is no other, or where its
    /// interval overlaps with that of another.
    /// </summary>
    public int? Place { get; init; }

    /// <summary>Its storms. Those of another build are marked, and prove nothing.</summary>
    public required IReadOnlyList<ViewStorm> Storms { get; init; }

    /// <summary>How many storms of this build show nothing, because they failed or did not settle.</summary>
    public required int VoidStorms { get; init; }

    /// <summary>Its single faults; <see langword="null"/> if there are none of this build.</summary>
    public required ViewFaults? Faults { get; init; }

    /// <summary>What a message cost; <see langword="null"/> if no round counts.</summary>
    public required ViewCosts? Costs { get; init; }

    /// <summary>Every attempt at a round, in order.</summary>
    public required IReadOnlyList<ViewRound> Rounds { get; init; }

    /// <summary>The cell of its experiments: cells that differ only in the scenario share them.</summary>
    [JsonIgnore]
    public string Subject { get; init; } = "";

    /// <summary>The cell without its mode.</summary>
    [JsonIgnore]
    public string Group { get; init; } = "";

    /// <summary>Whether it is measured as the default matrix is.</summary>
    [JsonIgnore]
    public bool IsPlain { get; init; }

    [JsonIgnore]
    public string Framework => Cell[AxisName.Framework];

    [JsonIgnore]
    public string Transport => Cell[AxisName.Transport];

    [JsonIgnore]
    public string Mode => Cell[AxisName.Mode];

    /// <summary>The cell without its mode. Values that do not speak for themselves stand behind the name of their axis.</summary>
    [JsonIgnore]
    public string Others => string.Join(
        " · ",
        Cell.Where(value => value.Key is not AxisName.Mode).Select(value => Speaking.Contains(value.Key) ? value.Value : $"{value.Key} {value.Value}"));
}

/// <summary>How fast a cell is, in messages per second.</summary>
/// <param name="Mean">The mean of the counting rounds.</param>
/// <param name="Low">The lower end of its 95 % interval.</param>
/// <param name="High">The upper end.</param>
/// <param name="Rounds">How many rounds count.</param>
/// <param name="Requested">How many were requested; <see langword="null"/> for a speed from another folder.</param>
/// <param name="ToStrictest">The ratio to the strictest mode with its verdict, as the tables write it.</param>
/// <param name="From">Where it comes from if not from a round of this folder.</param>
public sealed record ViewSpeed(Figure Mean, Figure Low, Figure High, int Rounds, int? Requested, string ToStrictest, string? From);

/// <summary>What a message costs, as means of the counting rounds.</summary>
/// <param name="Commits">Transactions committed by PostgreSQL.</param>
/// <param name="Flushes">Flushes of its write-ahead log.</param>
/// <param name="WalBytes">Bytes written to that log.</param>
/// <param name="TwoPhaseCommits">Prepared transactions committed.</param>
/// <param name="RoundTrips">Round trips to PostgreSQL; not known without the kit's proxy.</param>
/// <param name="Cores">What the processors did; <see langword="null"/> if that was not measured.</param>
/// <param name="Worker">What a worker did; <see langword="null"/> if that was not measured.</param>
public sealed record ViewCosts(
    Figure Commits, Figure Flushes, Figure WalBytes, Figure TwoPhaseCommits, Figure RoundTrips, CoreTime? Cores, WorkerTime? Worker);

/// <summary>A storm over a cell.</summary>
/// <param name="Kills">Kills of the handler process.</param>
/// <param name="Cuts">Cuts of all its connections.</param>
/// <param name="ServerCrashes">Crashes of the database server.</param>
/// <param name="Messages">How many were sent.</param>
/// <param name="InFlight">Those that could be in flight at the kills and cuts.</param>
/// <param name="NotOnce">Those that were not handled exactly once.</param>
/// <param name="Found">The same by class: <c>4 lost, 3 torn</c>; <c>0</c> for none, if no other promise was broken.</param>
/// <param name="AtMost">For none: the share of those in flight below which the true one lies with 95 % confidence, as a text.</param>
/// <param name="Verdict">Whether the promise was kept.</param>
/// <param name="Commit">The build, shortened.</param>
/// <param name="IsOfThisBuild">Whether that is the build that was measured.</param>
/// <param name="Evidence">Its line.</param>
public sealed record ViewStorm(
    int Kills, int Cuts, int ServerCrashes, int Messages, int InFlight, int NotOnce, string Found, string? AtMost, string Verdict, string Commit,
    bool IsOfThisBuild, FileLine Evidence)
{
    /// <summary>What was done.</summary>
    [JsonIgnore]
    public string Done => string.Join(
        " and ",
        new[] { Times(Kills, "kill"), Times(Cuts, "cut"), Times(ServerCrashes, "server crash", "es") }.OfType<string>());

    private static string? Times(int count, string what, string plural = "s") =>
        count == 0 ? null : $"{Figures.Count(count)} {what}{(count == 1 ? "" : plural)}";
}

/// <summary>The single faults of a cell.</summary>
/// <param name="Kept">Promises kept.</param>
/// <param name="Broken">Promises broken for no known reason.</param>
/// <param name="Known">Promises broken for a known reason.</param>
/// <param name="Nothing">Experiments that show nothing.</param>
public sealed record ViewFaults(int Kept, int Broken, int Known, int Nothing)
{
    /// <summary>In words.</summary>
    [JsonIgnore]
    public string Text => string.Join(
        ", ",
        new[]
        {
            $"{Figures.Count(Kept)} kept",
            Broken > 0 ? $"{Figures.Count(Broken)} broken" : null,
            Known > 0 ? $"{Figures.Count(Known)} broken (known)" : null,
            Nothing > 0 ? $"{Figures.Count(Nothing)} show nothing" : null,
        }.OfType<string>());
}

/// <summary>An attempt at a round.</summary>
/// <param name="Round">Its number.</param>
/// <param name="Attempt">The attempt at it.</param>
/// <param name="Outcome">As the tables write it.</param>
/// <param name="Counts">Whether it is in the averages.</param>
/// <param name="Noisy">Whether other programs disturbed it.</param>
/// <param name="PerSecond">Its average in messages per second.</param>
/// <param name="Evidence">Its line.</param>
public sealed record ViewRound(int Round, int Attempt, string Outcome, bool Counts, bool Noisy, Figure PerSecond, FileLine Evidence)
{
    /// <summary>Commits over time, on the scale of the view; empty if there is nothing to draw.</summary>
    [JsonIgnore]
    public IReadOnlyList<RateBin> Bins { get; init; } = [];

    /// <summary>Why it failed.</summary>
    public IReadOnlyList<string> Reasons { get; init; } = [];

    /// <summary>For a reader.</summary>
    [JsonIgnore]
    public string Label => $"round {Figures.Plain(Round)}{(Attempt > 1 ? " again" : "")}{(Noisy ? ", noisy" : "")}"
        + (Outcome == RoundOutcome.Valid.ToString() ? "" : $", {Outcome}") + (Counts ? "" : ", not in the average");
}
