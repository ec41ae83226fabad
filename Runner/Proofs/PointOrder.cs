using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Proofs;

/// <summary>The order of experiments that finds violations early.</summary>
internal static class PointOrder
{
    /// <summary>The beginnings of statements and methods that take effect for others.</summary>
    private static readonly IReadOnlyList<string> TakingEffect =
        ["COMMIT", "PREPARE TRANSACTION", "basic.ack", "basic.nack", "basic.reject", "basic.publish", "tx.commit"];

    /// <summary>Kills around commits, acknowledgements and publishes first, and the slow way, in which an answer never comes, last.</summary>
    public static IEnumerable<PointExperiment> Of(IEnumerable<PointExperiment> experiments) =>
        from experiment in experiments
        let way = experiment.Way.Facts()
        orderby !way.KillsProcess, way.KillsProcess && !TakesEffect(experiment.Point), way.Rank, experiment.Point.Number
        select experiment;

    private static bool TakesEffect(CrashPoint point) =>
        TakingEffect.Any(text => point.Request.Text.StartsWith(text, StringComparison.OrdinalIgnoreCase));
}
