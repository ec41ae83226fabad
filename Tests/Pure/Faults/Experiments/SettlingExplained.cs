using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Points;
using Kit.Runner.Measuring;

namespace Kit.Tests.Faults.Experiments;

public sealed class SettlingExplained
{
    [Test]
    public void Every_limit_is_the_code_s()
    {
        var usual = EndpointKinds.Frameworks.Min(SecondsFor);
        var others = EndpointKinds.Frameworks.Where(framework => SecondsFor(framework) > usual)
            .Select(framework => $"{framework.Title}: {SecondsFor(framework)}");
        Assert.That(
            Page,
            Does.Contain(
                $"A single fault or a storm has settled when no count has changed for {Settling.Quiet.TotalSeconds} seconds, or for {usual} seconds " +
                $"({string.Join(", ", others)}) if a message or a prepared transaction is left. It also takes that long after a server's crash " +
                "and in every storm, if the mode receives before it handles: an endpoint may still have messages that no count sees. " +
                $"One that has not settled after {Settling.Limit.TotalSeconds} seconds is void."));
    }

    [Test]
    public void Every_limit_at_a_point_is_the_code_s() => Assert.That(
        Page,
        Does.Contain(FormattableString.Invariant(
            $"An experiment at a point has settled when no count has changed for {PointSettling.Quiet.TotalSeconds} seconds, ")
            + $"or for {2 * new PointWaits().Quiet.TotalSeconds} seconds if work is left. One that has not settled after "
            + $"{PointLane<CellAccount>.ToSettle.TotalSeconds} seconds "
            + $"and {PointLane<CellAccount>.LongestMessage.TotalSeconds} seconds for each message is void,"));

    private static string Page => File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "reference", "guarantees.md"));

    private static double SecondsFor(FrameworkFacts framework) => (2 * framework.LongestPause).TotalSeconds;
}
