namespace Kit.Tests.TwoServers;

/// <summary>The protocol of full-dtc on two servers, in all orders of its steps and crashes. The endpoint's own code is tested with two real servers.</summary>
[Parallelizable]
public sealed class FullDtcOnTwoServers
{
    [TestCase(2, 1)]
    [TestCase(1, 2)]
    public void A_branch_commits_if_and_only_if_its_message_has_left_the_queue(int numbers, int recoveries)
    {
        var model = new TwoServersModel(Mistake.None, numbers, recoveries);

        Assert.That(model.FindViolation(), Is.Null);
        TestContext.Out.WriteLine($"{model.Count} states");
    }

    [TestCase(Mistake.NoFence)]
    [TestCase(Mistake.FenceIgnored)]
    [TestCase(Mistake.NumberRemovedEarly)]
    [TestCase(Mistake.GoesOnAfterDoubt)]
    [TestCase(Mistake.ReadBeforeFence)]
    [TestCase(Mistake.RowDeletedEarly)]
    [TestCase(Mistake.OwnWorkerNotAsked)]
    [TestCase(Mistake.GoneBeforePrepared)]
    [TestCase(Mistake.AnothersFence, 1, 2)]
    public void The_search_finds_a_mistake(Mistake mistake, int numbers = 2, int recoveries = 1) =>
        Assert.That(new TwoServersModel(mistake, numbers, recoveries).FindViolation(), Is.Not.Null);
}
