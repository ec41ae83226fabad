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
}
