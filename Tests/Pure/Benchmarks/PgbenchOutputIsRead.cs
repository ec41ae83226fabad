using Kit.Benchmarks.Floor;
using Kit.Runner.Results;

namespace Kit.Tests.Benchmarks;

public sealed class PgbenchOutputIsRead
{
    private const string Text = """
        pgbench (17.2)
        transaction type: receive-and-insert.sql
        scaling factor: 1
        query mode: prepared
        number of clients: 2
        number of threads: 2
        maximum number of tries: 1
        number of transactions per client: 5000
        number of transactions actually processed: 10000/10000
        number of failed transactions: 3 (0.030%)
        latency average = 1.234 ms
        initial connection time = 4.567 ms
        tps = 1620.745543 (without initial connection time)
        """;

    [Test]
    public void Count_failures_and_rate() => Assert.That(PgbenchReport.Parse(Text), Is.EqualTo(new PgbenchReport(10_000, 3, 1620.745543)));

    [Test]
    public void Line_ends_of_windows_are_no_obstacle() =>
        Assert.That(PgbenchReport.Parse(Text.ReplaceLineEndings("\r\n")), Is.EqualTo(new PgbenchReport(10_000, 3, 1620.745543)));

    [Test]
    public void Version_13_says_no_failures_and_has_two_rates()
    {
        const string Old = """
            number of transactions actually processed: 200/200
            tps = 812.5 (including connections establishing)
            tps = 845.25 (excluding connections establishing)
            """;

        Assert.That(PgbenchReport.Parse(Old), Is.EqualTo(new PgbenchReport(200, null, 845.25)));
    }

    [TestCase("")]
    [TestCase("pgbench: error: connection to server failed")]
    [TestCase("number of transactions actually processed: 12/10000")]
    [TestCase("tps = 1620.7 (without initial connection time)")]
    public void Anything_else_is_an_error_that_shows_it(string text) =>
        Assert.That(() => PgbenchReport.Parse(text), Throws.TypeOf<KitException>().With.Message.Contains(text));
}
