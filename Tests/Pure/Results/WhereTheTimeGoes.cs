using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>How long the phases of a message took, from single durations to the table of a run.</summary>
[Parallelizable]
public sealed class WhereTheTimeGoes
{
    [Test]
    public void Quantiles_are_those_of_all_values()
    {
        var durations = Durations.Of([.. Enumerable.Range(1, 1_001).Select(value => value / 10d).Reverse()])!;

        Assert.That(
            durations,
            Is.EqualTo(new Durations(50.1, 99.165, 1_001) { P95Milliseconds = 95.16, MaxMilliseconds = 100.1, MeanMilliseconds = 50.1 }));
    }

    [Test]
    public void One_value_is_every_quantile() =>
        Assert.That(
            Durations.Of([1.23456]),
            Is.EqualTo(new Durations(1.235, 1.235, 1) { P95Milliseconds = 1.235, MaxMilliseconds = 1.235, MeanMilliseconds = 1.235 }));

    [Test]
    public void Nothing_measured_is_not_known()
    {
        Assert.That(Durations.Of([]), Is.Null);
        Assert.That(ServiceTime.Of(null, null, null), Is.Null);
        Assert.That(ServiceTime.Of(null, Durations.Of([1]), null), Is.Not.Null);
    }

    [Test]
    public void The_table_has_the_mean_of_the_medians_and_the_highest_of_the_others()
    {
        var run = Recorded(
            Round(1) with { ServiceTime = new ServiceTime(Took(1, 2, 3, 4), Took(10, 20, 30, 40), Commit: null) },
            Round(2) with { ServiceTime = new ServiceTime(Took(3, 1, 5, 9), Took(20, 10, 40, 30), Commit: null), SecondPhase = new Durations(5, 6, 400) });

        Assert.That(
            ServiceTimeTable.Of(run).Rows.Single(),
            Is.EqualTo(["full-dtc", "2.00/2.00/5.00/9.00", "15.0/20.0/40.0/40.0", "–", "5.00/–/6.00/–"]));
    }

    [Test]
    public void A_round_that_does_not_count_is_not_in_the_table()
    {
        var run = Recorded(
            Round(1) with { ServiceTime = new ServiceTime(Took(1, 2, 3, 4), null, null) },
            Round(2) with { ServiceTime = new ServiceTime(Took(9, 9, 9, 9), null, null), Outcome = RoundOutcome.Stalled("no commit for 30 s") });

        Assert.That(ServiceTimeTable.Of(run).Rows.Single()[1], Is.EqualTo("1.00/2.00/3.00/4.00"));
    }

    [Test]
    public void A_run_of_an_earlier_version_has_no_table()
    {
        var run = Recorded(Round(1));
        using var tables = new StringWriter();
        using var terminal = new StringWriter();

        MarkdownTables.Write(run, "graphs.svg", tables);
        TerminalSummary.Write(run, terminal, 160);

        Assert.That($"{tables}{terminal}", Does.Not.Contain(ServiceTimeTable.Title));
    }

    private static Durations Took(double p50, double p95, double p99, double max) => new(p50, p99, 400) { P95Milliseconds = p95, MaxMilliseconds = max };

    private static RoundDocument Round(int number) => InventedRun.Round("full-dtc", number, seconds: 4);

    private static RecordedRun Recorded(params RoundDocument[] rounds) =>
        new(InventedRun.Document with { Cells = [InventedRun.Cell("full-dtc")] }, rounds);
}
