using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Runner.Results.Proofs;

namespace Kit.Runner.Results.Drains;

/// <summary>The document about the speed of one service of others: the file <c>drain.json</c>.</summary>
public sealed record DrainDocument
{
    public int Schema { get; init; } = ResultJson.Schema;

    /// <summary>The service's name.</summary>
    public required string Name { get; init; }

    public required DateTimeOffset StartedUtc { get; init; }

    /// <summary>The fingerprint of the kit's assemblies, as <see cref="BuildFacts.Fingerprint"/>.</summary>
    public required string Fingerprint { get; init; }

    /// <summary>The proof file, as it was read.</summary>
    public required string ProofFile { get; init; }

    /// <summary>The program that was started instead of the one in the file; absent if none was.</summary>
    public string? Given { get; init; }

    /// <summary>The fingerprint of the files that the commands of the proof file name.</summary>
    public string? Service { get; init; }

    /// <summary>Measured messages in each round.</summary>
    public required int Messages { get; init; }

    /// <summary>Messages that are handled before those, by the same process.</summary>
    public required int WarmUp { get; init; }

    /// <summary>Time that the kit's proxy added to each round trip of the service, such as <c>2ms</c>; absent: no proxy was in between.</summary>
    public string? RoundTrip { get; init; }

    /// <summary>Rounds that were asked for.</summary>
    public required int Planned { get; init; }

    /// <summary>
    /// The numbers of rounds that were asked for before, each with rounds made when more were asked for, the earliest first; absent if there were none.
    /// </summary>
    public IReadOnlyList<int>? PlannedBefore { get; init; }

    public required HostFacts Host { get; init; }

    /// <summary>The versions of the servers.</summary>
    public IReadOnlyDictionary<string, string> Servers { get; init; } = new Dictionary<string, string>();

    /// <summary>The addresses of the servers that the kit has not started, without passwords; absent: it has started all.</summary>
    public IReadOnlyDictionary<string, string>? Named { get; init; }

    /// <summary>The figures that those servers did not allow, in sentences; absent: all were measured.</summary>
    public IReadOnlyList<string>? Lacks { get; init; }

    /// <summary>True if the servers decoded their log for it: rows have their moments from there, and it costs the server something.</summary>
    public bool HasLog => Lacks is null;

    /// <summary>The disk with the files of the kit's servers, before the first round; absent if a server is not the kit's.</summary>
    public DiskFacts? Disk { get; init; }

    public IReadOnlyList<DrainRound> Rounds { get; init; } = [];

    /// <summary>A drain through the kit's proxy, for what passes there. It is in no rate; absent until it is made, and without a database.</summary>
    public DrainRound? Traced { get; init; }

    /// <summary>One undisturbed handling; absent if it was not looked at.</summary>
    public SeenHandling? Handling { get; init; }

    /// <summary>For each round, the valid attempt with the least noise.</summary>
    public IReadOnlyList<DrainRound> Counting => RoundAttempts.Counting(Rounds);

    /// <summary>Messages per second over the counting rounds; <see langword="null"/> if none counts.</summary>
    public Estimate? Rate => RoundAttempts.RateOf(Counting);

    /// <summary>What rounds that were added to others make of the intervals, in a sentence; <see langword="null"/>: none were.</summary>
    public string? Prolonged => PlannedBefore is not { Count: > 0 } before ? null
        : $"Rounds were added after some had been made: first {string.Join(", then ", before.Append(Planned).Select(count => Figures.Count(count)))} were " +
          "asked for. If that depended on what was measured, the interval misses the true figure more often than in 5 of 100 drains, and a verdict on it is " +
          "wrong more often.";

    /// <summary>The document with at least so many rounds asked for.</summary>
    public DrainDocument With(int rounds) => rounds <= Planned ? this : this with
    {
        Planned = rounds,
        PlannedBefore = Rounds.Count == 0 ? PlannedBefore : [.. PlannedBefore ?? [], Planned],
    };

    /// <summary>The numbers of the rounds that were not made.</summary>
    public IReadOnlyList<int> Missing => [.. Enumerable.Range(1, Planned).Except(Rounds.Select(round => round.Round))];

    /// <summary>The number of rounds that were not made, in a sentence; <see langword="null"/>: all were.</summary>
    public string? NotMade => Missing.Count is > 0 and var missing ? $"{Figures.Count(missing)} of {Figures.Count(Planned, "round")} not made." : null;

    /// <summary>True if every round was made, and every attempt is valid.</summary>
    public bool IsWhole => Counting.Count == Planned && Rounds.All(round => round.Outcome.IsValid());

    /// <summary>The differences in words that keep later rounds from belonging to these: another machine, server, disk or source of moments.</summary>
    public IEnumerable<string> DifferencesFrom(DrainDocument now) =>
    [
        .. RunDifferences.Between((Host, RunFacts.Placed(Servers, Named), Disk), (now.Host, RunFacts.Placed(now.Servers, now.Named), now.Disk)),
        .. Rounds.Count > 0 && HasLog != now.HasLog ? [$"the server's log: {Decoded} then, {now.Decoded} now"] : Array.Empty<string>(),
    ];

    private string Decoded => HasLog ? "decoded" : "not decoded";
}

/// <summary>One measured drain of a service, or one attempt at it. Rates and times follow from the offsets.</summary>
public sealed record DrainRound : IRoundAttempt
{
    public required int Round { get; init; }

    public required int Attempt { get; init; }

    public required RoundOutcome Outcome { get; init; }

    public required Noise Noise { get; init; }

    /// <summary>All messages of the round by class, those of the warm-up included.</summary>
    [JsonConverter(typeof(AccountsConverter))]
    public IReadOnlyDictionary<DeliveryClass, int> Accounts { get; init; } = new Dictionary<DeliveryClass, int>();

    /// <summary>Time in which the messages were put in; absent if the round failed before.</summary>
    public double? SendSeconds { get; init; }

    /// <summary>Time from the start of the service's process to its first effect; absent if there was none.</summary>
    public double? StartSeconds { get; init; }

    /// <summary>For each message that was put in. The start of the service is in it.</summary>
    public required MessageCosts Costs { get; init; }

    /// <summary>
    /// The clock starts at the first effect after the warm-up. Milliseconds from then until each later message had all its effects, ascending, to the
    /// microsecond. Messages whose effects are committed together with the first are before the clock, and have none.
    /// </summary>
    public IReadOnlyList<double> OffsetsMilliseconds { get; init; } = [];

    /// <summary>The largest number of messages with one moment since the clock started; absent in rounds of an earlier kit, and without moments.</summary>
    public int? MostAtOneMoment { get; init; }

    /// <summary>The clock of the database server; absent if the kit has started it, and if no effect is a row.</summary>
    public ServerClock? ServerClock { get; init; }

    /// <summary>Traffic with PostgreSQL; absent but in a drain through the kit's proxy.</summary>
    public NetworkUse? Network { get; init; }

    /// <summary>Sampled states of the service's sessions, the longest first; absent but in a drain through the kit's proxy.</summary>
    public IReadOnlyList<SampledState>? Sessions { get; init; }

    public Throughput Throughput => new(OffsetsMilliseconds);

    /// <summary>The name of the attempt, for a reader.</summary>
    public string Name => $"Round {Figures.Plain(Round)}{(Attempt > 1 ? " again" : "")}";

    /// <summary>A round without results, to be filled in.</summary>
    public static DrainRound Blank(int round, int attempt)
    {
        var missing = Reading.Missing("the round did not get that far");
        return new DrainRound
        {
            Round = round,
            Attempt = attempt,
            Outcome = RoundOutcome.Error("not run"),
            Noise = new Noise(missing, Noise.DefaultLimit, BusiestProcess: null),
            Costs = new MessageCosts(missing, missing, missing, missing, missing, missing),
        };
    }
}

/// <summary>A state of the service's sessions at the server, sampled during a drain.</summary>
/// <param name="Name">As PostgreSQL names what an executing session waits for; or in words.</param>
/// <param name="MillisecondsPerMessage">Of all sessions together.</param>
public sealed record SampledState(string Name, double MillisecondsPerMessage);
