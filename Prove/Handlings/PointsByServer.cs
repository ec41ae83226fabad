using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;

namespace Kit.Prove.Handlings;

/// <summary>The requests of one handling, by server.</summary>
internal static class PointsByServer
{
    /// <summary>A sentence.</summary>
    public static string Of(IReadOnlyList<CrashPoint> points) => "A message takes " + string.Join("; ",
        from point in points
        group point by point.Request.Server into server
        let transactions = server.Select(point => point.Leading is [var first, ..] ? first : point.Number).Distinct().Count()
        select $"{Figures.Count(server.Count(), "request")} to {server.Key}" +
            (server.Key == Placeholders.Broker ? "" : $" in {Figures.Count(transactions, "transaction")}"))
        + ".";
}
