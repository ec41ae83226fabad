using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results;

/// <summary>The source of the moments of <see cref="RoundDocument.OffsetsMilliseconds"/>.</summary>
public enum ClockSource
{
    /// <summary>The database's record of when each row's transaction committed.</summary>
    CommitTimestamps,

    /// <summary>
    /// The moment the handler returned, without the commit after it. For servers without commit timestamps, and for scenarios without a row that commits.
    /// </summary>
    HandlerCompletions,
}

/// <summary>
/// One measured drain of one cell, or one attempt at it: a line of <c>rounds.jsonl</c>. With the offsets in <c>moments.bin</c>,
/// everything else (elapsed time, rates, series) can be computed, so it is not stored.
/// </summary>
public sealed record RoundDocument : IRoundAttempt
{
    public int Schema { get; init; } = ResultJson.Schema;

    public required CellName Cell { get; init; }

    /// <summary>The number of the round, from 1. Rounds of one number ran one after the other, each cell once.</summary>
    public required int Round { get; init; }

    /// <summary>The number of the attempt, from 1. A round is attempted again if it was noisy, or if it failed and the run was resumed to retry it.</summary>
    public required int Attempt { get; init; }

    public required RoundOutcome Outcome { get; init; }

    public required Noise Noise { get; init; }

    /// <summary>Preloaded messages.</summary>
    public required int Messages { get; init; }

    /// <summary>Messages handled at a time, by all processes together.</summary>
    public required int Concurrency { get; init; }

    /// <summary>Messages handled by each process; <see langword="null"/> if there was one.</summary>
    public IReadOnlyList<int>? HandledByEach { get; init; }

    /// <summary>Duration of the restore of the widgets' database; <see langword="null"/> if the round failed before.</summary>
    public required double? RestoreSeconds { get; init; }

    /// <summary>Duration of the preload of the messages; <see langword="null"/> if the round failed before.</summary>
    public required double? PreloadSeconds { get; init; }

    /// <summary>Messages per second of the warm-up drain, in a process that has just started.</summary>
    public required double? ColdPerSecond { get; init; }

    /// <summary>Start of the clock; <see langword="null"/> if no handler was entered.</summary>
    public required DateTimeOffset? FirstHandlerEntryUtc { get; init; }

    public required ClockSource Clock { get; init; }

    /// <summary>Number of times that a handler was entered. More than <see cref="Messages"/> means retries.</summary>
    public required int HandlerEntries { get; init; }

    /// <summary>Number of times that a handler returned; absent in older runs.</summary>
    public int? Handled { get; init; }

    /// <summary>Messages by final class; see <see cref="RoundAccount"/>.</summary>
    [JsonConverter(typeof(AccountsConverter))]
    public required IReadOnlyDictionary<DeliveryClass, int> Accounts { get; init; }

    public required MessageCosts Costs { get; init; }

    /// <summary>
    /// Time from the decision until the second phase had run and the row was visible; <see langword="null"/> in modes without a second phase.
    /// </summary>
    public required Durations? SecondPhase { get; init; }

    /// <summary>Time from the receive of a batch to its commit; <see langword="null"/> without batches.</summary>
    public Durations? Batch { get; init; }

    /// <summary>The time of a message by phase; absent in runs of earlier versions, and if the endpoint measures none of it.</summary>
    public ServiceTime? ServiceTime { get; init; }

    /// <summary>Transactions that were promoted to distributed ones; <see langword="null"/> if the transport's transactions cannot be.</summary>
    public int? Promotions { get; init; }

    /// <summary>The traffic through the kit's proxy; <see langword="null"/> if the endpoint was connected to its servers directly.</summary>
    public NetworkUse? Network { get; init; }

    /// <summary>
    /// Milliseconds from <see cref="FirstHandlerEntryUtc"/> to the commit of each message's row, or to what <see cref="Clock"/> says, ascending; kept to the
    /// microsecond, which is the resolution of PostgreSQL's timestamps.
    /// </summary>
    [JsonIgnore]
    public IReadOnlyList<double> OffsetsMilliseconds { get; init; } = [];

    /// <summary>A round without results, to be filled in.</summary>
    /// <param name="number">From 1.</param>
    /// <param name="attempt">From 1.</param>
    /// <param name="sizes">Messages to drain, and messages at a time.</param>
    public static RoundDocument Blank(CellName cell, int number, int attempt, RunSettings sizes, ClockSource clock, Reading missing) => new()
    {
        Cell = cell,
        Round = number,
        Attempt = attempt,
        Outcome = RoundOutcome.Error("not run"),
        Noise = new Noise(missing, Noise.DefaultLimit, BusiestProcess: null),
        Messages = sizes.Messages,
        Concurrency = sizes.Concurrency,
        RestoreSeconds = null,
        PreloadSeconds = null,
        ColdPerSecond = null,
        FirstHandlerEntryUtc = null,
        Clock = clock,
        HandlerEntries = 0,
        Accounts = new Dictionary<DeliveryClass, int>(),
        Costs = new MessageCosts(missing, missing, missing, missing, missing, missing) { Buffers = missing },
        SecondPhase = null,
    };

    /// <summary>Handler entries beyond one for each message.</summary>
    public int Retries => Math.Max(0, HandlerEntries - Messages);

    public Throughput Throughput => new(OffsetsMilliseconds);

    /// <summary>The name of the round, for a reader.</summary>
    public string Name => NameOf(Cell.ToString(), Round, Attempt);

    /// <summary>The name of its graph.</summary>
    public string GraphId => $"{Cell.FileName}.round-{Figures.Plain(Round)}.attempt-{Figures.Plain(Attempt)}";

    public static string NameOf(string cell, int round, int attempt) => $"{cell}, round {Figures.Plain(round)}{(attempt > 1 ? " again" : "")}";
}

/// <summary>The costs of a message in a round: totals divided by the messages.</summary>
/// <param name="WalFlushes">Times that the write-ahead log was forced to disk.</param>
/// <param name="WalBytes">Bytes written to the write-ahead log.</param>
/// <param name="HandlerCpuMilliseconds">CPU time of the handler's process, user and system, all threads.</param>
/// <param name="ServerCpuMilliseconds">CPU time of all processes of the server.</param>
public sealed record MessageCosts(
    Reading Commits,
    Reading WalFlushes,
    Reading WalBytes,
    Reading TwoPhaseCommits,
    Reading HandlerCpuMilliseconds,
    Reading ServerCpuMilliseconds)
{
    /// <summary>Buffer accesses (hits and reads) in the round's databases, including autovacuum's; absent in older runs.</summary>
    public Reading? Buffers { get; init; }

    /// <summary>Each figure with its name, for code that treats all of them alike.</summary>
    public IEnumerable<(string Name, Reading Reading)> Named() =>
    [
        ("commits", Commits),
        ("WAL flushes", WalFlushes),
        ("WAL bytes", WalBytes),
        ("two-phase commits", TwoPhaseCommits),
        .. Buffers is { } buffers ? [("buffers", buffers)] : Array.Empty<(string, Reading)>(),
        ("handler CPU", HandlerCpuMilliseconds),
        ("server CPU", ServerCpuMilliseconds),
    ];
}

/// <summary>Messages by class. The serializer's own converter would also read a number, a list or another spelling as a class.</summary>
public sealed class AccountsConverter : JsonConverter<IReadOnlyDictionary<DeliveryClass, int>>
{
    private static readonly Dictionary<string, DeliveryClass> ByName = Enum.GetValues<DeliveryClass>().ToDictionary(NameOf);

    public override IReadOnlyDictionary<DeliveryClass, int> Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        var stored = JsonSerializer.Deserialize<Dictionary<string, int>>(ref reader, options) ?? throw new JsonException("Accounts are missing.");
        return stored.ToDictionary(
            account => ByName.TryGetValue(account.Key, out var known) ? known : throw new JsonException($"'{account.Key}' is not a class of messages."),
            account => account.Value);
    }

    public override void Write(Utf8JsonWriter writer, IReadOnlyDictionary<DeliveryClass, int> value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value.ToDictionary(account => NameOf(account.Key), account => account.Value), options);

    private static string NameOf(DeliveryClass deliveryClass) => JsonNamingPolicy.CamelCase.ConvertName(deliveryClass.ToString());
}

/// <summary>A figure, or the reason why it could not be read.</summary>
public sealed record Reading(double? Value, string? Because)
{
    public static Reading Of(double value) => new(value, null);

    /// <summary>The figure per message, divided by <paramref name="count"/>.</summary>
    public Reading Per(int count) => Value is { } total ? Of(total / count) : this;

    public static Reading Missing(string because) => new(null, because);
}

/// <summary>
/// The traffic during a drain between an endpoint and its servers, seen by the kit's proxy. It includes what the endpoint asked when it started and
/// stopped.
/// </summary>
/// <param name="SqlStatements">Statements that PostgreSQL completed, per message; several can be sent at once.</param>
/// <param name="SqlRoundTrips">
/// Round trips to PostgreSQL, per message, over all connections, including those for which no message waits.
/// </param>
/// <param name="SqlConnections">The most open connections to PostgreSQL at the same time, since the handler's process started.</param>
public sealed record NetworkUse(MeasuredRoundTrip Trip, Reading SqlStatements, Reading SqlRoundTrips, int SqlConnections);

/// <summary>Times of pings through the kit's proxy during a drain.</summary>
public sealed record MeasuredRoundTrip(double MeanMilliseconds, double P99Milliseconds, int Pings);

/// <summary>
/// The time of a worker for a message, phase by phase, as the endpoint's own packages measured it during a drain; the second phase is in
/// <see cref="RoundDocument.SecondPhase"/>. It is not latency: the time that a message waits in its queue is not in it.
/// </summary>
/// <param name="Receive">From the worker's query to the handler's call; <see langword="null"/> if no package measures it.</param>
/// <param name="Handler">One attempt of the handler; <see langword="null"/> if no package measures it.</param>
/// <param name="Commit">From the handler's return until the message is settled; <see langword="null"/> if no package measures it.</param>
public sealed record ServiceTime(Durations? Receive, Durations? Handler, Durations? Commit)
{
    /// <returns><see langword="null"/> if nothing was measured.</returns>
    public static ServiceTime? Of(Durations? receive, Durations? handler, Durations? commit) =>
        (receive, handler, commit) is (null, null, null) ? null : new ServiceTime(receive, handler, commit);
}
