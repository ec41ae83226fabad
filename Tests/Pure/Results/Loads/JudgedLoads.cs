using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Tests.Results.Pages;

namespace Kit.Tests.Results.Loads;

[Parallelizable]
public sealed class JudgedLoads
{
    private static readonly LoadResult Good = InventedLoads.Good;

    [Test]
    public void One_that_keeps_up_is_sustained() => Assert.That(Good.ReasonsAgainst(limitMilliseconds: 3), Is.Empty);

    [Test]
    public void A_late_sender_is_no_verdict_on_the_endpoint() => Assert.That(
        (Good with { SenderLag = new Latency(0, 0, 20.1, 30, 40) }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["the sender was late"]));

    [TestCase(0.004, ExpectedResult = true)]
    [TestCase(0.2, ExpectedResult = false)]
    public bool A_disk_that_makes_nothing_durable_is_told(double flushMilliseconds)
    {
        var disk = new DiskFacts("/tmp", "overlay", IsInMemory: false, new FlushTime(flushMilliseconds, 1, 100));
        using var output = new StringWriter();

        LoadReport.WriteMarkdown(InventedLoads.Searched with { Disk = disk }, picture: null, output);

        Assert.That($"{output}", Does.Contain("- Disk: /tmp on overlay; a flush of 8 KiB: "));
        return $"{output}".Contains("Perhaps not durable: a flush in /tmp on overlay took 0.00400 ms", StringComparison.Ordinal);
    }

    [Test]
    public void The_wait_for_a_standby_that_no_latency_has_is_told()
    {
        using var output = new StringWriter();

        LoadReport.WriteMarkdown(InventedLoads.Searched with { Standbys = "FIRST 1 (far)" }, picture: null, output);

        Assert.That($"{output}", Does.Contain("(synchronous_standby_names is FIRST 1 (far)), so the latencies of rows are without that wait."));
    }

    [TestCase(20, ExpectedResult = true)]
    [TestCase(20.1, ExpectedResult = false, Description = "One of fewer than 100 sends is more than 1 %.")]
    public bool With_few_messages_every_send_has_to_be_on_time(double latest) =>
        (Good with { SenderLag = new Latency(0, 1, P99: null, P999: null, latest) }).IsSenderOnTime;

    [TestCase(2, 60, 0, ExpectedResult = false, Description = "60 of the 6,000 messages of the load: 1 %.")]
    [TestCase(2, 61, 0, ExpectedResult = true)]
    [TestCase(61, 61, 0, ExpectedResult = true, Description = "It arose early, and stayed.")]
    [TestCase(500, 2, 0, ExpectedResult = false, Description = "It was worked off.")]
    [TestCase(80, 80, 20, ExpectedResult = false, Description = "20 are under way in an endpoint that takes 0.2 s.")]
    [TestCase(81, 81, 20, ExpectedResult = true)]
    public bool A_backlog_is_left_that_is_more_than_a_hundredth_of_the_messages(double second, double last, double underWay) =>
        (Good with { Backlog = new Backlog(second, last) { UnderWay = underWay } }).ReasonsAgainst(limitMilliseconds: null).Contains("a backlog was left");

    [TestCase(99, ExpectedResult = false)]
    [TestCase(98.98, ExpectedResult = true, Description = "61 of the 6,000 messages had no effect when the sending ended.")]
    public bool The_effects_of_a_sustained_rate_come_while_messages_are_sent(double reached) =>
        (Good with { Reached = reached }).ReasonsAgainst(limitMilliseconds: null).Contains("a backlog was left");

    [TestCase(2, ExpectedResult = "only the sender was late")]
    [TestCase(61, ExpectedResult = null, Description = "The endpoint that fell behind made it late.")]
    public string? A_rate_is_tried_again_that_only_the_sender_missed(double secondQuarter) =>
        (Good with { SenderLag = new Latency(1, 10, 30, 40, 50), Backlog = new Backlog(secondQuarter, 2) }).WhyNothingIsShown(limitMilliseconds: null);

    [Test]
    public void The_backlog_of_users_cannot_grow() =>
        Assert.That((Good with { Rate = null, Users = 700, Backlog = new Backlog(0, 700) }).ReasonsAgainst(limitMilliseconds: null), Is.Empty);

    [Test]
    public void One_that_lost_a_message_is_not_sustained() =>
        Assert.That((Good with { Outcome = RoundOutcome.Invalid(["one was lost"]) }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["INVALID"]));

    [TestCase(59, ExpectedResult = "")]
    [TestCase(60, ExpectedResult = "1 % failed")]
    public string In_a_search_fewer_than_1_percent_may_be_dead_lettered(int failed) => string.Join(
        ", ",
        (Good with { Outcome = RoundOutcome.Invalid(["some failed"]), IsDeadLetteredAlone = true, Failed = failed }).ReasonsAgainst(limitMilliseconds: 3));

    [Test]
    public void In_a_search_a_message_must_not_be_lost() => Assert.That(
        (Good with { Outcome = RoundOutcome.Invalid(["one was lost"]), Failed = 1 }).ReasonsAgainst(limitMilliseconds: 3), Is.EqualTo(["INVALID"]));

    [Test]
    public void At_a_given_rate_none_may_be_dead_lettered() => Assert.That(
        (Good with { Outcome = RoundOutcome.Invalid(["one failed"]), IsDeadLetteredAlone = true, Failed = 1 }).ReasonsAgainst(limitMilliseconds: null),
        Is.EqualTo(["INVALID"]));

    [Test]
    public void What_failed_is_shown_by_its_kinds()
    {
        var users = Good with
        {
            Rate = null,
            Users = 10,
            Failed = 60,
            TimedOut = 57,
            Accounts = new Dictionary<DeliveryClass, int>
            {
                [DeliveryClass.CleanError] = 2,
                [DeliveryClass.Lost] = 1,
            },
        };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(LoadReport.FailedIn(users), Is.EqualTo("1 % failed (2 dead-lettered, 1 lost, 57 timed out)"));
            Assert.That(LoadReport.FailedIn(Good), Is.EqualTo("0 % failed"));
            Assert.That(MarkdownOf(users), Does.Contain("| 6,000 | 1 % | 2 | 1 | 57 |").And.Not.Contain("did not count"));
        }
    }

    /// <summary>Of a load of users without the count, nothing says that none gave up.</summary>
    [Test]
    public void A_load_that_did_not_count_who_gave_up_says_so()
    {
        var markdown = MarkdownOf(Good with { Rate = null, Users = 10 });

        Assert.That(markdown, Does.Contain("| 6,000 | 0 % | – | – | – |"));
        Assert.That(markdown, Does.Contain("did not count the messages of users who gave up (10 users), so they are missing in Failed."));
    }

    /// <summary>The messages were sent, and nobody counted what became of them.</summary>
    [Test]
    public void One_that_broke_off_does_not_say_that_nothing_failed()
    {
        var broken = Good with { SenderLag = null, Backlog = null, Latency = null, Sent = 2_186, Outcome = RoundOutcome.Error("a process ended") };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(broken.ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["error"]));
            Assert.That((LoadReport.FailedIn(broken), broken.FailedShare), Is.EqualTo(("not known what became of them", (double?)null)));
            Assert.That(MarkdownOf(broken), Does.Contain("| 2,186 | – | – | – | – |"));
        }
    }

    [Test]
    public void One_beside_busy_programs_says_so()
    {
        var noisy = Good with { OtherCpuShare = 0.45, BusiestOther = "backup" };

        Assert.That(MarkdownOf(noisy), Does.Contain(
            "- Noisy: other programs took more than 8 % of the processors, up to 45 % (backup), so these figures say little about a quiet machine: " +
            "bare/postgresql/shared at 100/s."));
        Assert.That(MarkdownOf(Good with { OtherCpuShare = 0.08 }), Does.Not.Contain("Noisy"));
    }

    /// <summary>A search that ended because of the sender says nothing of the endpoint.</summary>
    [Test]
    public void A_rate_that_only_the_sender_missed_is_not_called_too_high()
    {
        var late = Good with { Rate = 200, SenderLag = new Latency(1, 10, 30, 40, 50) };
        var step = Good with { Rate = 200, Outcome = RoundOutcome.Invalid(["the machine's clock made a step of 10 ms"]), IsClockAlone = true };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(MarkdownOf(Good, late), Does.Contain("; at 200 only the sender was late, so the endpoint may sustain more."));
            Assert.That(MarkdownOf(late), Does.Contain("At each only the sender was late, so it is not known what the endpoint sustains."));
            Assert.That(MarkdownOf(Good, step), Does.Contain("; at 200 the machine's clock made a step, so the endpoint may sustain more."));
            Assert.That(MarkdownOf(late, step), Does.Contain("At each only the sender was late, or the machine's clock made a step, so it is not known"));
            Assert.That(
                MarkdownOf(Good, late, late with { Backlog = new Backlog(2, 200_000) }),
                Does.Contain("; 200 were not: the sender was late, a backlog was left"));
        }
    }

    [Test]
    public void The_rule_is_in_the_report() => Assert.That(
        MarkdownOf(Good),
        Does.Contain(
            "- Sustained: 99 % of the sends begin within 20.0 ms of their moment; at the end, and in the median of the last quarter, at most 1 % of the " +
            "load's messages, or 1 message, wait for their effect, without those that are under way at the median latency of the first quarter; " +
            "no message is lost or doubled, and fewer than 1 % failed; p99 is at most 1,000 ms\n"));

    [Test]
    public void A_latency_over_the_limit_is_not_sustained() =>
        Assert.That(Good.ReasonsAgainst(limitMilliseconds: 2.9), Is.EqualTo(["p99 above 2.90 ms"]));

    [Test]
    public void Without_enough_messages_the_limit_cannot_be_checked() => Assert.That(
        (Good with { Latency = new Latency(1, 2, P99: null, P999: null, 3), Sent = 99 }).ReasonsAgainst(limitMilliseconds: 100),
        Is.EqualTo(["too few messages for a p99"]));

    [Test]
    public void Without_a_send_there_is_nothing_to_judge() =>
        Assert.That((Good with { SenderLag = null, Sent = 0 }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["nothing was sent"]));

    [Test]
    public void One_that_failed_gives_its_outcome_alone() => Assert.That(
        (Good with { SenderLag = null, Sent = 0, Outcome = RoundOutcome.Error("a server has ended.") }).ReasonsAgainst(limitMilliseconds: null),
        Is.EqualTo(["error"]));

    [Test]
    public void One_that_was_stopped_is_not_sustained() =>
        Assert.That((Good with { IsStopped = true }).ReasonsAgainst(limitMilliseconds: null), Is.EqualTo(["stopped after 60.0 s"]));

    [Test]
    public void Quantiles_are_those_of_all_the_kits_tables()
    {
        double[] values = [.. Enumerable.Range(1, 1_000).Select(value => (double)value)];
        var durations = Durations.Of(values)!;

        Assert.That(
            Latency.Of(values.Reverse()),
            Is.EqualTo(new Latency(durations.P50Milliseconds, durations.P95Milliseconds, durations.P99Milliseconds, 999.666, 1_000)));
    }

    [TestCase(1, ExpectedResult = 0)]
    [TestCase(2, ExpectedResult = 1)]
    [TestCase(19, ExpectedResult = 1)]
    [TestCase(20, ExpectedResult = 2)]
    [TestCase(99, ExpectedResult = 2)]
    [TestCase(100, ExpectedResult = 3)]
    [TestCase(999, ExpectedResult = 3)]
    [TestCase(1_000, ExpectedResult = 4)]
    public int A_quantile_that_would_be_the_maximum_is_not_shown(int messages)
    {
        var latency = Latency.Of(Enumerable.Range(1, messages).Select(value => (double)value))!;

        Assert.That(latency.Max, Is.EqualTo(messages));
        return new[] { latency.P50, latency.P95, latency.P99, latency.P999 }.Count(quantile => quantile is not null);
    }

    [Test]
    public void No_value_has_no_quantile() => Assert.That(Latency.Of([]), Is.Null);

    [TestCase(9, 991d)]
    [TestCase(20, null)]
    public void What_never_came_is_slower_than_any_other(int endless, double? p99)
    {
        var latency = Latency.Of(Enumerable.Range(1, 1_000).Select(value => value <= 1_000 - endless ? value : double.PositiveInfinity))!;

        Assert.That((latency.P999, latency.Max), Is.EqualTo(((double?)null, 1_000d - endless)));
        Assert.That(latency.P99, p99 is null ? Is.Null : Is.EqualTo(p99).Within(1));
        Assert.That(Latency.Of([double.PositiveInfinity]), Is.Null);
    }

    [Test]
    public void A_p99_without_an_end_is_above_every_limit() => Assert.That(
        (Good with { Latency = new Latency(1, 2, P99: null, P999: null, 3) }).ReasonsAgainst(limitMilliseconds: 100), Is.EqualTo(["p99 above 100 ms"]));

    [Test]
    public void Loads_below_the_highest_rate_are_no_part_of_its_search()
    {
        var half = Good with { Rate = 55, ShareOfFound = 0.5 };
        var found = FoundRate.In(Document(Good, Late(200), Good with { Rate = 110 }, Late(120), half, Good with { Rate = 130, ShareOfFound = 0.99 })).Single();

        using (Assert.EnterMultipleScope())
        {
            Assert.That((found.Best?.Rate, found.Next?.Rate), Is.EqualTo((110, 120)));
            Assert.That(found.Below.Select(below => below.Rate), Is.EqualTo(new[] { 55, 130 }));
            Assert.That(FoundRate.In(Document(Late(100))).Single().Best, Is.Null);
            Assert.That(FoundRate.In(Document(Good) with { Settings = new LoadSettings(60, 2, 0, 1, 8, LimitMilliseconds: null) }), Is.Empty);
        }
    }

    /// <summary>A drain of another cell has no figure in the row.</summary>
    [Test]
    public void The_highest_rate_stands_on_a_page_next_to_the_drain()
    {
        using var repository = new InventedRepository();
        var cell = InventedRun.Cell("dtc-off");
        new LoadFolder(Path.Combine(repository.Root, "results", "load")).Save(Document(
            Good with { Cell = cell }, Late(110) with { Cell = cell }, Good with { Cell = cell, Rate = 50, ShareOfFound = 0.5 },
            Late(100) with { Cell = InventedRun.Cell("outbox") }));
        repository.SaveRun("results/run", "full-dtc");

        new LoadFolder(Path.Combine(repository.Root, "results", "again")).Save(Document(
            Good with { Cell = cell, Rate = 150 }, Good with { Cell = cell, Rate = 50, ShareOfFound = 0.5 }));

        var alone = repository.Made("found-rates from results/load");
        var again = repository.Made("found-rates from results/load, results/again");
        var withDrain = repository.Made("found-rates from results/load, results/run");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(alone, Does.Contain("| Cell | Highest msg/s | p50 ms at 50 % | p99 ms at 50 % |").And.Contain($"| {cell} | 100 | 1.00 | 3.00 |")
                .And.Contain("/outbox/ado | – | – | – |"));
            Assert.That(again, Does.Contain($"| {cell} | 150 |").And.Contain("/outbox/ado | – |").And.Not.Contain($"| {cell} | 100 |")
                .And.Contain($" `{cell}` was searched 2 times: 100, then 150."));
            Assert.That(withDrain, Does.Contain("| Cell | Drain msg/s | Highest msg/s |").And.Contain($"| {cell} | – | 100 | 1.00 | 3.00 |"));
        }
    }

    /// <summary>The rule of the search was another one, so what it found is not the highest by this one.</summary>
    [Test]
    public void A_rate_that_only_an_older_build_calls_sustained_is_not_the_highest()
    {
        using var repository = new InventedRepository();
        new LoadFolder(Path.Combine(repository.Root, "results", "load")).Save(Document(
            Good, Good with { Rate = 200, Reached = 190 }, Late(210), Good with { Rate = 160, ShareOfFound = 0.8 }));

        var made = repository.Made("found-rates from results/load");

        Assert.That(made, Does.Contain($"| {Good.Cell} | 100 to 200 | 1.00 † | 3.00 † |")
            .And.Contain(" †: of 200, which the build of the load called sustained, and this one does not."));
        Assert.That(MarkdownOf(Good, Good with { Rate = 160, ShareOfFound = 0.8 }), Does.Contain(" At 80 % of 200, 160 a second, the latency was p50"));
    }

    [Test]
    public void A_page_says_why_a_load_below_the_highest_rate_is_not_sustained()
    {
        using var repository = new InventedRepository();
        var noisy = Good with { Rate = 80, ShareOfFound = 0.8, Outcome = RoundOutcome.Invalid(["one was lost"]), OtherCpuShare = 0.5 };
        new LoadFolder(Path.Combine(repository.Root, "results", "load")).Save(Document(Good, noisy));

        Assert.That(
            repository.Made("found-rates from results/load"),
            Does.Contain(" *: INVALID.").And.Not.Contain("the sender was late").And.Contain("**Noisy: other programs took more than 8 %"));
    }

    [Test]
    public void Rates_of_two_builds_or_machines_do_not_stand_in_one_table()
    {
        using var repository = new InventedRepository();
        var load = Document(Good);
        new LoadFolder(Path.Combine(repository.Root, "results", "load")).Save(load);
        new LoadFolder(Path.Combine(repository.Root, "results", "build")).Save(load with { Commit = load.Commit! with { Id = "other" } });
        new LoadFolder(Path.Combine(repository.Root, "results", "machine")).Save(load with { Host = load.Host with { Cores = 64 } });

        foreach (var other in new[] { "build", "machine" })
        {
            Assert.That(
                () => repository.Made($"found-rates from results/load, results/{other}"),
                Throws.TypeOf<KitException>().With.Message.Contains("are of different builds or machines"));
        }
    }

    [Test]
    public void A_page_marks_what_a_late_sender_limited()
    {
        using var repository = new InventedRepository();
        var late = new Latency(1, 10, 30, 40, 50);
        new LoadFolder(Path.Combine(repository.Root, "results", "load")).Save(Document(
            Good, Good with { Rate = 110, SenderLag = late }, Good with { Rate = 50, ShareOfFound = 0.5 },
            Good with { Rate = 80, ShareOfFound = 0.8, SenderLag = late }));

        var made = repository.Made("found-rates from results/load");

        Assert.That(made, Does.Contain($"| {Good.Cell} | ≥ 100 | 1.00 | 3.00 | 1.00 \\* | 3.00 \\* |"));
        Assert.That(made, Does.Contain("≥: at the next rate only the sender was late").And.Contain(" *: the sender was late."));
    }

    private static LoadResult Late(double rate) => Good with { Rate = rate, Latency = new Latency(1, 2, 1_001, P999: null, 2_000) };

    private static string MarkdownOf(params IReadOnlyList<LoadResult> results)
    {
        using var output = new StringWriter { NewLine = "\n" };
        LoadReport.WriteMarkdown(Document(results), picture: null, output);
        return output.ToString();
    }

    private static LoadDocument Document(params IReadOnlyList<LoadResult> results) => InventedLoads.Searched with { Results = results };
}
