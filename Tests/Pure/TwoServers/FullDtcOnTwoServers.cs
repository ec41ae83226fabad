namespace Kit.Tests.TwoServers;

/// <summary>The protocol of full-dtc on two servers, in all orders of its steps and crashes. The endpoint's own code is tested with two real servers.</summary>
[Parallelizable]
public sealed class FullDtcOnTwoServers
{
    [Test]
    public void A_branch_commits_if_and_only_if_its_message_has_left_the_queue()
    {
        var model = new TwoServersModel(Mistake.None);

        Assert.That(model.FindViolation(), Is.Null);
        Assert.That(model.Count, Is.GreaterThan(400_000), "states");
    }

    [TestCase(Mistake.NoFence)]
    [TestCase(Mistake.FenceIgnored)]
    [TestCase(Mistake.NumberRemovedEarly)]
    [TestCase(Mistake.GoesOnAfterDoubt)]
    [TestCase(Mistake.ReadBeforeFence)]
    [TestCase(Mistake.RowDeletedEarly)]
    [TestCase(Mistake.OwnWorkerNotAsked)]
    public void The_search_finds_a_mistake(Mistake mistake) => Assert.That(new TwoServersModel(mistake).FindViolation(), Is.Not.Null);
}
