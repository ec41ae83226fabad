using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;

namespace Kit.Tests.Faults.Experiments;

public sealed class SettlingExplained
{
    [Test]
    public void Every_limit_is_the_code_s()
    {
        var usual = EndpointKinds.Frameworks.Min(SecondsFor);
        var others = EndpointKinds.Frameworks.Where(framework => SecondsFor(framework) > usual).Select(framework => $"{framework.Title}: {SecondsFor(framework)}");
        Assert.That(
            File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "reference", "guarantees.md")),
            Does.Contain(
                $"when no count has changed for {Settling.Quiet.TotalSeconds} seconds, or for {usual} seconds " +
                $"({string.Join(", ", others)}) if a message or a prepared transaction is left. It also takes that long after a server's crash " +
                "and in every storm, if the mode receives before it handles: an endpoint may still have messages that no count sees. " +
                $"An experiment that has not settled after {Settling.Limit.TotalSeconds} seconds is void."));
    }

    private static double SecondsFor(FrameworkFacts framework) => (2 * framework.LongestPause).TotalSeconds;
}
