using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Tests.Results.Loads;

[Parallelizable]
public sealed class JudgedLoads
{
    private static readonly LoadResult Good = new()
    {
        Cell = new CellName(("framework", "bare"), ("transport", "postgresql"), ("mode", "shared")),
        Rate = 100,
        Seconds = 60,
        Outcome = RoundOutcome.Valid,
        Sent = 6_000,
        Latency = new Latency(1, 2, 3, 4, 5),
        SenderLag = new Latency(0.1, 0.2, LoadResult.LateSender, 30, 40),
        BehindInTheMiddle = 2,
        BehindAtTheEnd = 2,
    };

    [Test]
    public void One_that_keeps_up_is_sustained() => Assert.That(Good.ReasonsAgainst(limitMilliseconds: 3), Is.Empty);

    [Test]
    public void A_late_sender_is_no_verdict_on_the_endpoint() => Assert.That(
        (Good with { SenderLag = new Latency(0, 0, 20.1, 30, 40) }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["the sender was late"]));

    [TestCase(62, ExpectedResult = false, Description = "60 of the 3,000 messages of the second half: 2 %.")]
    [TestCase(63, ExpectedResult = true)]
    public bool A_backlog_grows_by_more_than_a_fiftieth_of_half_the_messages(int atTheEnd) =>
        (Good with { BehindAtTheEnd = atTheEnd }).ReasonsAgainst(limitMilliseconds: null).Contains("the backlog grew");

    [Test]
    public void A_shrinking_backlog_does_not_grow() => Assert.That((Good with { BehindInTheMiddle = 500 }).IsBacklogGrowing, Is.False);

    [Test]
    public void One_that_lost_a_message_is_not_sustained() =>
        Assert.That((Good with { Outcome = RoundOutcome.Invalid(["one was lost"]) }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["INVALID"]));

    [Test]
    public void A_latency_over_the_limit_is_not_sustained() =>
        Assert.That(Good.ReasonsAgainst(limitMilliseconds: 2.9), Is.EqualTo(["p99 above 2.90 ms"]));

    [Test]
    public void Without_a_send_there_is_nothing_to_judge() =>
        Assert.That((Good with { SenderLag = null, Sent = 0 }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["nothing was sent"]));

    [Test]
    public void One_that_was_stopped_is_not_sustained() =>
        Assert.That((Good with { IsStopped = true }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["stopped after 60.0 s"]));

    [Test]
    public void Quantiles_are_values_that_were_measured()
    {
        var latency = Latency.Of(Enumerable.Range(1, 1_000).Select(value => (double)value).Reverse());

        Assert.That(latency, Is.EqualTo(new Latency(500, 950, 990, 999, 1_000)));
    }

    [Test]
    public void One_value_is_every_quantile() => Assert.That(Latency.Of([7]), Is.EqualTo(new Latency(7, 7, 7, 7, 7)));

    [Test]
    public void No_value_has_no_quantile() => Assert.That(Latency.Of([]), Is.Null);
}
