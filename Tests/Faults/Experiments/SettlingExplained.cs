using Kit.Runner.Faults.Experiments;

namespace Kit.Tests.Faults.Experiments;

public sealed class SettlingExplained
{
    [Test]
    public void Every_limit_is_the_code_s() => Assert.That(
        File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "guarantees-tables.md")),
        Does.Contain(
            $"when no count has moved for {Settling.Quiet.TotalSeconds} seconds, or for {Settling.QuietWithWorkLeft.TotalSeconds} where a message or a " +
            "prepared transaction is left or an endpoint may still have messages that no count sees (after a server's crash, and in every storm, in a " +
            "mode that receives before it handles); " +
            $"after {Settling.Limit.TotalSeconds} seconds without that it is void"));
}
