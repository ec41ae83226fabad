using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Tests.Results.Loads;

/// <summary>What is computed from the messages of a load, here of invented ones.</summary>
[Parallelizable]
public sealed class HistoryOfALoad
{
    [TestCase(10, 10.0, 30, ExpectedResult = false)]
    [TestCase(10, 9.9, 30, ExpectedResult = false, Description = "1 % less than the rate.")]
    [TestCase(10, 9.5, 30, ExpectedResult = true, Description = "15 messages of 300 are waiting at the end.")]
    [TestCase(10, 9.0, 10, ExpectedResult = true)]
    [TestCase(1, 0.5, 10, ExpectedResult = true)]
    [TestCase(1, 1.0, 10, ExpectedResult = false)]
    [TestCase(1_000, 970, 10, ExpectedResult = true)]
    [TestCase(1_000, 990, 10, ExpectedResult = false)]
    [TestCase(10_000, 9_000, 1, ExpectedResult = true)]
    [TestCase(100, 12, 3, ExpectedResult = true, Description = "In the first quarter half of the messages wait for as long as the load, or longer.")]
    [TestCase(100, 10, 30, ExpectedResult = true)]
    [TestCase(1_000, 100, 60, ExpectedResult = true)]
    public bool An_endpoint_that_is_slower_than_the_rate_leaves_a_backlog(double rate, double capacity, int seconds) =>
        Sent(rate, seconds, index => (index + 0.1) / capacity).IsBacklogLeft;

    [TestCase(1, ExpectedResult = false)]
    [TestCase(50, ExpectedResult = false)]
    public bool A_message_that_is_under_way_for_longer_than_its_neighbours_distance_is_no_backlog(double rate) =>
        Sent(rate, 20, index => (index / rate) + 0.7 + (index % 3 * 0.3)).IsBacklogLeft;

    [TestCase(2)]
    [TestCase(5)]
    public void Nor_is_one_that_takes_a_good_part_of_the_load(double latency) =>
        Assert.That(Sent(50, 10, index => (index / 50d) + latency).IsBacklogLeft, Is.False);

    /// <summary>Eight senders, each of which waits for an answer: 80 a second of 100.</summary>
    [TestCase(0.1, 1, 1_000, ExpectedResult = "only the sender was late (name more --senders)")]
    [TestCase(0.1, 1, null, ExpectedResult = "only the sender was late (name more --senders)")]
    [TestCase(0.1, 1, 50, ExpectedResult = null, Description = "It answers later than the limit, whenever it is asked.")]
    [TestCase(0.1, 1.5, 1_000, ExpectedResult = null, Description = "It falls behind what is sent.")]
    public string? What_busy_senders_left_to_send_is_no_backlog_of_the_endpoint(double answer, double slower, double? limitMilliseconds)
    {
        const int Rate = 100;
        const int Seconds = 10;
        const int Senders = 8;
        var result = new LoadHistory(
            [
                .. Enumerable.Range(0, Rate * Seconds).Select(index =>
                    (Due: (double)index / Rate, Begun: Math.Max((double)index / Rate, index / Senders * answer)))
                    .Select(one => new LoadedMessage(one.Due * 1_000, one.Begun * 1_000, ((one.Begun * slower) + answer) * 1_000)),
            ],
            Seconds)
            .Into(Blank with { Rate = Rate });

        Assert.That(result.ReasonsAgainst(limitMilliseconds), Has.Member("a backlog was left"));
        return result.WhyNothingIsShown(limitMilliseconds);
    }

    [TestCase(0.4)]
    [TestCase(0.95)]
    public void A_pause_of_the_server_leaves_no_backlog(double share)
    {
        // It stands still for a second and catches up at twice the rate: two seconds, and an eighth of the load is 2.5.
        const int Seconds = 20;
        const double Rate = 200;
        var pause = share * (Seconds - 1);
        var result = Sent(Rate, Seconds, index => index / Rate is var due && (due < pause || due > pause + 2)
            ? due + 0.002
            : pause + 1 + ((due - pause) / 2));

        Assert.That(result.IsBacklogLeft, Is.False, $"{result.Backlog}");
    }

    /// <summary>A look only at the growth from the second quarter on does not see it.</summary>
    [Test]
    public void A_backlog_that_arose_early_and_stayed_is_left() => Assert.That(
        Sent(1_000, 10, index => (index / 1_000d) + (index < 1_500 ? 0 : 0.6)).IsBacklogLeft);

    [Test]
    public void Messages_without_a_row_have_failed_and_are_slower_than_any_other()
    {
        var result = new LoadHistory(
            [new LoadedMessage(0, 1, 10), new LoadedMessage(500, 500, Done: null), new LoadedMessage(900, 902, 940) { Told = 943 }], seconds: 1)
            .Into(Blank);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result, Has.Property(nameof(LoadResult.Sent)).EqualTo(3).And.Property(nameof(LoadResult.Failed)).EqualTo(1));
            Assert.That(result.Latency, Is.EqualTo(new Latency(40, P95: null, P99: null, P999: null, 40)), "of 10, 40 and what has no end");
            Assert.That(result.SenderLag!.Max, Is.EqualTo(2));
            Assert.That(result.UserLag!.Max, Is.EqualTo(3), "only who was told counts");
            Assert.That(result.Reached, Is.EqualTo(2), "rows a second");
        }
    }

    [Test]
    public void An_effect_later_than_a_user_waits_has_failed_and_keeps_its_latency()
    {
        var history = new LoadHistory(
            [new LoadedMessage(0, 0, 1_000), new LoadedMessage(0, 900, 1_001), new LoadedMessage(500, 500, Done: null)], seconds: 2)
        {
            Timeout = 1_000,
        };

        var result = history.Into(Blank with { Users = 3 });

        Assert.That((result.TimedOut, result.Failed, result.Latency!.Max), Is.EqualTo(((int?)1, 2, 1_001d)));
    }

    [Test]
    public void A_user_who_found_no_connection_is_slower_than_any_other()
    {
        var result = new LoadHistory([new LoadedMessage(0, 0, 10)], seconds: 1) { Unsent = [new LoadedMessage(500, 900, Done: null)], Timeout = 1_000 }
            .Into(Blank with { Users = 2 });

        using (Assert.EnterMultipleScope())
        {
            Assert.That((result.Sent, result.Failed, result.FailedShare), Is.EqualTo((1, 1, (double?)0.5)));
            Assert.That((result.Latency!.P50, result.Latency.Max, result.SenderLag!.Max), Is.EqualTo(((double?)null, 10d, 400d)));
            Assert.That(result.ReasonsAgainst(limitMilliseconds: null), Has.Member("1 message found no free connection (name more --senders)"));
            Assert.That(LoadReport.FailedIn(result), Is.EqualTo("50 % failed (0 timed out, 1 unsent)"));
        }
    }

    [Test]
    public void Nobody_gives_up_who_does_not_wait()
    {
        var result = new LoadHistory([new LoadedMessage(0, 0, 1_000_000)], seconds: 1).Into(Blank with { Rate = 1 });

        Assert.That((result.TimedOut, result.Failed), Is.EqualTo(((int?)null, 0)));
    }

    [Test]
    public void Rates_and_latencies_leave_out_the_time_in_which_users_begin()
    {
        var result = new LoadHistory(
            [new LoadedMessage(0, 40, 900) { Told = 990 }, new LoadedMessage(1_500, 1_501, 1_600) { Told = 1_602 }, new LoadedMessage(2_000, 2_000, 2_100)],
            seconds: 3)
        {
            Ramp = 1,
        }.Into(Blank);

        Assert.That((result.Reached, result.Latency!.Max), Is.EqualTo((1d, 100d)));
        Assert.That((result.SenderLag!.Max, result.UserLag!.Max), Is.EqualTo((1d, 2d)));
    }

    [Test]
    public void A_load_that_sent_nothing_has_no_figures()
    {
        var result = new LoadHistory([], seconds: 0).Into(Blank);

        Assert.That((result.Sent, result.Latency, result.Reached, result.IsBacklogLeft), Is.EqualTo((0, (Latency?)null, (double?)null, false)));
    }

    [Test]
    public void The_parts_around_a_held_snapshot_are_those_that_the_load_had()
    {
        var history = new LoadHistory([.. Enumerable.Range(0, 40).Select(at => new LoadedMessage(at * 1_000, at * 1_000, (at * 1_000) + 10))], seconds: 40);
        LoadSample[] samples = [.. Enumerable.Range(0, 5).Select(at => new LoadSample(Blank.Cell, at * 10, at * 10) { DeadRows = at })];

        var parts = LoadPart.Of(from: 10, to: 30, samples, history, seconds: 40);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(parts.Select(part => part.Title), Is.EqualTo(["before the snapshot", "while it was held", "after it"]));
            Assert.That(parts.Select(part => part.DeadRows), Is.EqualTo(new long?[] { 1, 3, 4 }));
            Assert.That(parts.Select(part => part.Reached), Is.All.EqualTo(1));
            Assert.That(LoadPart.Of(from: 10, to: 30, samples, history, seconds: 20), Has.Count.EqualTo(2), "stopped while it was held");
        }
    }

    private static LoadResult Blank { get; } = new()
    {
        Cell = new CellName(("framework", "bare"), ("transport", "postgresql"), ("mode", "shared")),
        Outcome = RoundOutcome.Valid,
    };

    private static LoadResult Sent(double rate, int seconds, Func<int, double> committedAt) =>
        new LoadHistory(
            [
                .. Enumerable.Range(0, (int)(rate * seconds)).Select(index => (Due: index / rate, At: Math.Max(index / rate, committedAt(index)))).Select(
                    one => new LoadedMessage(one.Due * 1_000, one.Due * 1_000, one.At * 1_000)),
            ],
            seconds)
        .Into(Blank with { Rate = rate });
}
