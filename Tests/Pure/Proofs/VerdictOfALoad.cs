using Kit.Guarantees;
using Kit.Prove.Commands;
using Kit.Prove.Loads;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Tests.Results.Loads;

namespace Kit.Tests.Proofs;

/// <summary>The exit code of <c>kit-prove load</c> is that of the verdicts which it prints.</summary>
public sealed class VerdictOfALoad
{
    private static readonly LoadResult Good = InventedLoads.Good;

    [Test]
    public void A_rate_that_was_not_sustained_is_no_success()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(IsDone(Good), Is.True);
            Assert.That(IsDone(Good with { Backlog = new Backlog(2, 5_000) }), Is.False);
            Assert.That(IsDone(Good with { SenderLag = new Latency(0, 0, 20.1, 30, 40) }), Is.False);
            Assert.That(IsDone(Good with { Outcome = RoundOutcome.Invalid(["one was lost"]) }), Is.False);
        }
    }

    [TestCase(new[] { DeliveryClass.Once, DeliveryClass.CleanError }, 1, true)]
    [TestCase(new[] { DeliveryClass.Once, DeliveryClass.CleanError }, 2, false, Description = "Something was left, too.")]
    [TestCase(new[] { DeliveryClass.Once, DeliveryClass.CleanError, DeliveryClass.Lost }, 1, false)]
    [TestCase(new[] { DeliveryClass.Once, DeliveryClass.Zombie }, 1, false)]
    public void In_a_search_dead_letters_alone_are_counted(DeliveryClass[] classes, int reasons, bool areAlone) => Assert.That(
        ServiceLoad.IsDeadLetteredAlone([.. Enumerable.Repeat("a reason", reasons)], classes), Is.EqualTo(areAlone));

    [TestCase(true, true, ExpectedResult = true)]
    [TestCase(false, true, ExpectedResult = false, Description = "No rate was sustained.")]
    [TestCase(true, false, ExpectedResult = true, Description = "A rate was too high.")]
    public bool A_search_is_done_when_it_has_found_a_rate(bool isSustained, bool isNextValid)
    {
        var low = isSustained ? Good : Good with { Backlog = new Backlog(2, 5_000) };
        var high = Good with { Rate = 2 * Good.Rate, Backlog = new Backlog(2, 5_000) };
        high = isNextValid ? high : high with { Outcome = RoundOutcome.Invalid(["too many"]) };
        var document = InventedLoads.Searched with { Results = [low, high] };
        return LoadCommand.IsDone(document);
    }

    private static bool IsDone(LoadResult result) => LoadCommand.IsDone(
        InventedLoads.Searched with { Settings = InventedLoads.Searched.Settings with { LimitMilliseconds = null }, Results = [result] });
}
