using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Tests.Results.Loads;

/// <summary>Loads that nobody made.</summary>
internal static class InventedLoads
{
    /// <summary>A search for the highest rate, without results.</summary>
    public static LoadDocument Searched { get; } = new()
    {
        CommandLine = "load --find-rate",
        StartedUtc = InventedRun.Document.StartedUtc,
        Commit = InventedRun.Document.Commit,
        Host = InventedRun.Document.Host,
        Packages = InventedRun.Document.Packages,
        Settings = new LoadSettings(60, Concurrency: 2, SeedRows: 0, WarmUp: 1, Senders: 8, LimitMilliseconds: 1_000),
    };

    /// <summary>An open load that keeps up.</summary>
    public static LoadResult Good { get; } = new()
    {
        Cell = new CellName(("framework", "bare"), ("transport", "postgresql"), ("mode", "shared")),
        Rate = 100,
        Seconds = 60,
        Outcome = RoundOutcome.Valid,
        Sent = 6_000,
        Latency = new Latency(1, 2, 3, 4, 5),
        SenderLag = new Latency(0.1, 0.2, LoadResult.LateSender, 30, 40),
        Backlog = new Backlog(2, 2),
    };
}
