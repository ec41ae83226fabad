using System.Text.Json.Serialization;
using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Views;

/// <summary>A cell: its speed and the outcomes of its messages in storms, never one without the other.</summary>
public sealed record ViewRow
{
    private static readonly IReadOnlyList<string> Speaking = [AxisName.Framework, AxisName.Transport, AxisName.Access, AxisName.Scenario];

    /// <summary>The cell's name with dots.</summary>
    public required string Id { get; init; }

    /// <summary>The cell's value on every axis of the table.</summary>
    public required IReadOnlyDictionary<string, string> Cell { get; init; }

    /// <summary>The worst outcome in its storms; the table is sorted by it.</summary>
    public required Loss Loss { get; init; }

    /// <summary>The reason why nothing is proven; <see langword="null"/> if something is.</summary>
    public required string? WhyUnproven { get; init; }

    /// <summary>Its speed; <see langword="null"/> if no round of it counts.</summary>
    public required ViewSpeed? Speed { get; init; }

    /// <summary>
    /// Its place by speed among the cells that differ only in the mode and lost the same; <see langword="null"/> where there is no other, or where its
    /// interval overlaps with that of another.
    /// </summary>
    [JsonInclude]
    public int? Place { get; init; }

    /// <summary>Its storms. Those of another build are marked, and prove nothing.</summary>
    public required IReadOnlyList<ViewStorm> Storms { get; init; }

    /// <summary>Storms of this build that show nothing, because they failed or did not settle.</summary>
    public required int VoidStorms { get; init; }

    /// <summary>Its single faults; <see langword="null"/> if there are none of this build.</summary>
    public required ViewFaults? Faults { get; init; }

    /// <summary>The costs of a message; <see langword="null"/> if no round counts.</summary>
    public required ViewCosts? Costs { get; init; }

    /// <summary>Every attempt at a round, in order.</summary>
    public required IReadOnlyList<ViewRound> Rounds { get; init; }

    /// <summary>The cell of its experiments: cells that differ only in the scenario share them.</summary>
    [JsonIgnore]
    public string Subject { get; init; } = "";

    /// <summary>The cell without its mode.</summary>
    [JsonIgnore]
    public string Group { get; init; } = "";

    /// <summary>True if it is measured as the default matrix is.</summary>
    [JsonIgnore]
    public bool IsPlain { get; init; }

    public string Framework => Cell[AxisName.Framework];

    public string Transport => Cell[AxisName.Transport];

    public string Mode => Cell[AxisName.Mode];

    /// <summary>What its handler does.</summary>
    public string Scenario => Cell.GetValueOrDefault(AxisName.Scenario, "insert");

    /// <summary>True if the kit's settings of a framework stand next to the framework's own.</summary>
    public bool IsNextToSettings => AxisName.OfFrameworks.Any(Cell.ContainsKey);

    /// <summary>The cell without its mode. Values that do not speak for themselves stand behind the name of their axis.</summary>
    public string Others => TextOf(Cell.Where(value => value.Key is not AxisName.Mode));

    /// <summary>The cell of its experiments without its mode: their handler is not that of a scenario.</summary>
    public string OthersOfSubject => TextOf(Cell.Where(value => value.Key is not (AxisName.Mode or AxisName.Scenario)));

    private static string TextOf(IEnumerable<KeyValuePair<string, string>> values) =>
        string.Join(" · ", values.Select(value => Speaking.Contains(value.Key) ? value.Value : $"{value.Key} {value.Value}"));
}

/// <summary>The speed of a cell, in messages per second.</summary>
/// <param name="Low">Lower end of its 95 % interval.</param>
/// <param name="Rounds">Rounds that count.</param>
/// <param name="Requested">Requested rounds; <see langword="null"/> for a speed from another folder.</param>
/// <param name="ToStrictest">Ratio to the strictest mode with its verdict, as the tables write it.</param>
/// <param name="From">The source if it is not a round of this folder.</param>
public sealed record ViewSpeed(Figure Mean, Figure Low, Figure High, int Rounds, int? Requested, string ToStrictest, string? From);

/// <summary>The costs of a message, as means of the counting rounds.</summary>
/// <param name="Flushes">Flushes of its write-ahead log.</param>
/// <param name="WalBytes">Bytes written to that log.</param>
/// <param name="RoundTrips">Round trips to PostgreSQL; not known without the kit's proxy.</param>
/// <param name="Cores">Time of the processors; <see langword="null"/> if not measured.</param>
/// <param name="Worker">Time of a worker; <see langword="null"/> if not measured.</param>
public sealed record ViewCosts(
    Figure Commits, Figure Flushes, Figure WalBytes, Figure TwoPhaseCommits, Figure RoundTrips, CoreTime? Cores, WorkerTime? Worker);

/// <summary>A storm over a cell.</summary>
/// <param name="InFlight">Handlers that could be running at the kills and cuts. A broker can have pushed more messages.</param>
/// <param name="Found">Those messages by class: <c>4 lost, 3 torn</c>; <c>0</c> for none, if no other promise was broken.</param>
/// <param name="AtMost">For none: the 95 % upper bound of the share of kills and cuts, or of the kills that met a message, as a text.</param>
/// <param name="Commit">The build, shortened.</param>
public sealed record ViewStorm(
    int Kills, int Cuts, int ServerCrashes, int Messages, int InFlight, int NotOnce, string Found, string? AtMost, string Verdict, string Commit,
    bool IsOfThisBuild, FileLine Evidence)
{
    /// <summary>Faults of all kinds.</summary>
    public int Faults => Kills + Cuts + ServerCrashes;

    /// <summary>The faults in words.</summary>
    public string Done => string.Join(
        " and ",
        new[] { Times(Kills, "kill"), Times(Cuts, "cut"), Times(ServerCrashes, "server crash", "es") }.OfType<string>());

    private static string? Times(int count, string what, string plural = "s") =>
        count == 0 ? null : $"{Figures.Count(count)} {what}{(count == 1 ? "" : plural)}";
}

/// <summary>The single faults of a cell.</summary>
/// <param name="Broken">Promises broken for no known reason.</param>
/// <param name="Known">Promises broken for a known reason.</param>
/// <param name="Nothing">Experiments that show nothing.</param>
public sealed record ViewFaults(int Kept, int Broken, int Known, int Nothing)
{
    /// <summary>The numbers in words.</summary>
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
/// <param name="Outcome">As the tables write it.</param>
/// <param name="Counts">True if it is in the averages.</param>
/// <param name="PerSecond">Average in messages per second.</param>
public sealed record ViewRound(int Round, int Attempt, string Outcome, bool Counts, bool Noisy, Figure PerSecond, FileLine Evidence)
{
    /// <summary>Commits over time, on the scale of the view; empty if there is nothing to draw.</summary>
    [JsonIgnore]
    public IReadOnlyList<RateBin> Bins { get; init; } = [];

    /// <summary>The reasons why it failed.</summary>
    public IReadOnlyList<string> Reasons { get; init; } = [];

    /// <summary>The name of the attempt, for a reader.</summary>
    public string Label => $"round {Figures.Plain(Round)}{(Attempt > 1 ? " again" : "")}{(Noisy ? ", noisy" : "")}"
        + (Outcome == RoundOutcome.Valid.ToString() ? "" : $", {Outcome}") + (Counts ? "" : ", not in the average");
}
