using Kit.Guarantees;
using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>A run that never happened, with one of each: a quiet round, a noisy one run again, an invalid, a stalled and a broken one.</summary>
internal static class InventedRun
{
    private const int Messages = 400;

    private static readonly DateTimeOffset Start = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    public static CellName Cell(string mode, string framework = "bare", string transport = "postgresql", string access = "ado") =>
        new(("framework", framework), ("transport", transport), ("mode", mode), ("access", access));

    public static RecordedRun Recorded => new(Document, Rounds);

    public static RunDocument Document => new()
    {
        CommandLine = "run --messages 400 --postgresql \"Host=db;Password=*** | more\"",
        StartedUtc = Start,
        EndedUtc = Start.AddMinutes(12.5),
        Ending = RunEnding.Completed,
        Commit = new GitCommit("0123456789abcdef0123456789abcdef01234567", Dirty: true),
        Host = new HostFacts(2, "Invented CPU @ 2.50GHz", 8L * 1024 * 1024 * 1024, "Debian GNU/Linux 12", ".NET 10.0.1"),
        Packages = new Dictionary<string, string>(StringComparer.Ordinal) { ["Npgsql"] = "10.0.0", ["Dapper"] = "2.1.86" },
        Server = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["version"] = "17.2",
            ["fsync"] = "on",
            ["synchronous_commit"] = "on",
            ["max_prepared_transactions"] = "64",
        },
        Settings = new RunSettings(Messages, Rounds: 5, Concurrency: 2, SeedRows: 1_000_000, WarmUp: 1_000, OrderSeed: 42, Quick: false),
        Isolation = "read committed",
        ImmediateRetries = new Dictionary<string, int>(StringComparer.Ordinal) { ["full-dtc"] = 2, ["transactions-off"] = 0 },
        PoolSizes = new Dictionary<string, int>(StringComparer.Ordinal) { ["queue"] = 4, ["widgets"] = 4 },
        SeedingSeconds = 6.4321,
        Cells = [Cell("full-dtc"), Cell("dtc-off"), Cell("scope-off"), Cell("transactions-off")],
        Broker = new Dictionary<string, string>(StringComparer.Ordinal) { ["version"] = "4.1.0", ["queues"] = "classic, durable" },
        Probes =
        [
            new CellProbed(
                Cell("full-dtc"), "ReadCommitted", "read committed", "when the handler has returned", "with the row's commit",
                MostTogether: 2, BodyBytes: 52),
            new CellProbed(
                Cell("transactions-off"), AmbientTransaction: null, "read committed", "with the insert", "before the handler",
                MostTogether: 2, BodyBytes: null),
        ],
        LeftOut = [new CellLeftOut(Cell("full-dtc", access: "npoco"), "not available: the package feed has no NPoco 5.7.x")],
    };

    public static IReadOnlyList<RoundDocument> Rounds =>
    [
        .. Numbers.Select(number => Round("full-dtc", number, seconds: 4.0 + (0.02 * number)) with
        {
            SecondPhase = new Durations(1.25 + (0.01 * number), 9.5 + number, Messages)
            {
                P95Milliseconds = 4.5,
                MaxMilliseconds = 20 + number,
                MeanMilliseconds = 1.5,
            },
            ServiceTime = new ServiceTime(
                new Durations(0.25, 0.75, Messages) { P95Milliseconds = 0.5, MaxMilliseconds = 1, MeanMilliseconds = 0.3 },
                new Durations(1.5, 6, Messages) { P95Milliseconds = 3, MaxMilliseconds = 12.5, MeanMilliseconds = 1.75 },
                new Durations(2, 8, Messages) { P95Milliseconds = 4, MaxMilliseconds = 16, MeanMilliseconds = 2.5 }),
            Costs = Costs(commits: 2.02, flushes: 1.98, bytes: 1_234.5, twoPhase: 1),
        }),
        .. Numbers.Select(number => Round("dtc-off", number, seconds: 3.5 + (0.02 * number))),
        Round("dtc-off", 3, seconds: 3.51, attempt: 2) with { Noise = Quiet },
        .. Numbers.Select(number => Round("scope-off", number, seconds: 3.5 + (0.11 * number))),
        .. Numbers.Select(number => Round("transactions-off", number, seconds: 0.9 + (0.1 * number))),
    ];

    public static RoundDocument Round(string mode, int number, double seconds, int attempt = 1) => Fate(new RoundDocument
    {
        Cell = Cell(mode),
        Round = number,
        Attempt = attempt,
        Outcome = RoundOutcome.Valid,
        Noise = Quiet,
        Messages = Messages,
        Concurrency = 2,
        RestoreSeconds = 1.5,
        PreloadSeconds = 0.25,
        ColdPerSecond = 61.5,
        FirstHandlerEntryUtc = Start.AddMinutes(number),
        Clock = ClockSource.CommitTimestamps,
        HandlerEntries = Messages,
        Accounts = Accounts(once: Messages),
        Costs = Costs(commits: 2.02, flushes: 1.98, bytes: 987.25, twoPhase: 0),
        SecondPhase = null,
        OffsetsMilliseconds = Wave(Messages, seconds),
    });

    /// <summary>Commits that come faster and slower in turns.</summary>
    private static double[] Wave(int count, double seconds) =>
    [
        .. Enumerable.Range(1, count)
            .Select(index => (double)index / count)
            .Select(part => Math.Round(seconds * 1_000 * (part - (0.02 * Math.Sin(6 * Math.PI * part))), 3)),
    ];

    private static IEnumerable<int> Numbers => Enumerable.Range(1, 5);

    private static Noise Quiet => new(Reading.Of(0.0123), Noise.DefaultLimit, "sshd");

    private static RoundDocument Fate(RoundDocument round) => (round.Cell.Mode, round.Round, round.Attempt) switch
    {
        ("dtc-off", 3, 1) => round with { Noise = new Noise(Reading.Of(0.134), Noise.DefaultLimit, "backup") },
        ("dtc-off", 5, _) => round with { Noise = new Noise(Reading.Of(0.0912), Noise.DefaultLimit, null), HandlerEntries = Messages + 3 },
        ("scope-off", 2, _) => round with
        {
            Outcome = RoundOutcome.Invalid(["messages lost: 1 (00000000-0000-0000-0000-000000000007)", "rows: 1,001,399 found, 1,001,400 expected"]),
            Accounts = Accounts(once: Messages - 1, lost: 1),
            OffsetsMilliseconds = [.. round.OffsetsMilliseconds.SkipLast(1)],
        },
        ("scope-off", 3, _) => round with
        {
            Outcome = RoundOutcome.Stalled("no commit for 30 s, 150 of 400 messages handled"),
            Accounts = Accounts(once: 150, stuck: Messages - 150),
            OffsetsMilliseconds = [.. round.OffsetsMilliseconds.Take(150)],
        },
        ("scope-off", 4, _) => round with
        {
            Outcome = RoundOutcome.Error("the handler process ended with exit code 134, \"Aborted\""),
            Noise = new Noise(Reading.Missing("the process ended before it could be read"), Noise.DefaultLimit, null),
            RestoreSeconds = null,
            PreloadSeconds = null,
            ColdPerSecond = null,
            FirstHandlerEntryUtc = null,
            HandlerEntries = 0,
            Accounts = new Dictionary<DeliveryClass, int>(),
            OffsetsMilliseconds = [],
        },
        ("transactions-off", _, _) => round with
        {
            Costs = round.Costs with { ServerCpuMilliseconds = Reading.Missing("the server runs on another machine") },
        },
        _ => round,
    };

    private static Dictionary<DeliveryClass, int> Accounts(int once, int lost = 0, int stuck = 0) =>
        new(Enum.GetValues<DeliveryClass>().ToDictionary(kind => kind, _ => 0))
        {
            [DeliveryClass.Once] = once,
            [DeliveryClass.Lost] = lost,
            [DeliveryClass.Stuck] = stuck,
        };

    private static MessageCosts Costs(double commits, double flushes, double bytes, double twoPhase) => new(
        Reading.Of(commits),
        Reading.Of(flushes),
        Reading.Of(bytes),
        Reading.Of(twoPhase),
        Reading.Of(0.4567),
        Reading.Of(0.89));
}
