namespace Kit.Tests.TwoServers;

/// <summary>
/// The protocol of full-dtc on several servers, in all orders of its steps and crashes. The endpoint's own code is tested with real servers.
/// </summary>
[Parallelizable(ParallelScope.All)]
public sealed class FullDtcOnTwoServers
{
    [TestCase(2, "0")]
    [TestCase(1, "01")]
    [TestCase(1, "01", 2, 1, Category = ExhaustiveAttribute.Category)]
    [TestCase(2, "0", 2, 1)]
    [TestCase(2, "1", 2, 1, Category = ExhaustiveAttribute.Category)]
    public void A_branch_commits_if_and_only_if_its_message_has_left_the_queue(int numbers, string recoveries, int participants = 1, int workers = 2)
    {
        var model = new TwoServersModel(Mistake.None, numbers, recoveries, participants, workers);

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
    [TestCase(Mistake.AnothersFence, 1, "01")]
    [TestCase(Mistake.NumberRemovedAtTheFirstEnd, 2, "0", 2, 1)]
    [TestCase(Mistake.DecidesAfterOnePrepare, 2, "0", 2, 1)]
    [TestCase(Mistake.RowDeletedWithoutTheOther, 1, "01", 2, 1)]
    public void The_search_finds_a_mistake(Mistake mistake, int numbers = 2, string recoveries = "0", int participants = 1, int workers = 2) =>
        Assert.That(new TwoServersModel(mistake, numbers, recoveries, participants, workers).FindViolation(), Is.Not.Null);
}
