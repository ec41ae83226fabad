using Kit.Runner.Measuring;

namespace Kit.Tests.Faults.Experiments;

public sealed class SettlingExplained
{
    [Test]
    public void Its_limit_is_the_code_s() => Assert.That(
        File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "reference", "guarantees.md")),
        Does.Contain($"the messages did not settle within {Settling.Limit.TotalSeconds} seconds"));
}
