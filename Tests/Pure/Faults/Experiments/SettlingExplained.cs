using Kit.Runner.Measuring;

namespace Kit.Tests.Faults.Experiments;

public sealed class SettlingExplained
{
    [Test]
    public void Every_limit_is_the_code_s() => Assert.That(
        File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "reference", "guarantees.md")),
        Does.Contain(
            $"when no count has changed for {Settling.Quiet.TotalSeconds} seconds, or for {Settling.QuietWithWorkLeft.TotalSeconds} seconds if a message or " +
            $"a prepared transaction is left. It also takes {Settling.QuietWithWorkLeft.TotalSeconds} seconds after a server's crash and in every storm, " +
            "if the mode receives before it handles: an endpoint may still have messages that no count sees. " +
            $"An experiment that has not settled after {Settling.Limit.TotalSeconds} seconds is void."));
}
