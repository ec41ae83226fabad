using Kit.Runner.Results;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Results;

/// <summary>The rate of one cell, for who asks for nothing else.</summary>
public sealed class RateOfACell
{
    private const string Sends = "insert-and-send";

    [Test]
    public void Is_that_of_the_tables_with_its_ratio_to_transactions_off()
    {
        var run = InventedRun.Recorded;
        var cell = run.Cells.Single(cell => cell.Cell.Mode == "full-dtc");

        var rate = Of("full-dtc")!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(rate.PerSecond, Does.StartWith($"{Figures.Measured(cell.Rate!.Mean)} ("));
            Assert.That(rate.ToTransactionsOff, Is.EqualTo(run.AgainstTransactionsOff(cell)!.Text).And.Not.Contains("er)"));
            Assert.That(
                run.AgainstTransactionsOff(cell)!,
                Is.EqualTo(cell.Against(run.Cells.Single(other => other.Cell.Mode == "transactions-off"))));
        }
    }

    [Test]
    public void Of_transactions_off_to_itself_is_one() => Assert.That(Of("transactions-off")!.ToTransactionsOff, Is.EqualTo("1"));

    [Test]
    public void Has_no_ratio_without_transactions_off()
    {
        var rate = Of("full-dtc", rounds: [.. InventedRun.Rounds.Where(round => round.Cell.Mode != "transactions-off")])!;

        Assert.That(rate.ToTransactionsOff, Is.Null);
    }

    [Test]
    public void Is_missing_for_a_cell_that_was_not_measured() => Assert.That(Of("shared"), Is.Null);

    /// <summary>Each is compared with its own kind.</summary>
    [Test]
    public void Is_that_of_each_handler_that_was_measured()
    {
        var sending =
            from number in Enumerable.Range(1, 5)
            from round in new[] { InventedRun.Round("full-dtc", number, seconds: 40), InventedRun.Round("transactions-off", number, seconds: 10) }
            select round with { Cell = new CellName([.. round.Cell.Values, ("scenario", Sends)]) };

        var rates = CellRate.Of(new RecordedRun(InventedRun.Document, [.. InventedRun.Rounds, .. sending]), InventedRun.Cell("full-dtc"));

        Assert.That(rates.Select(rate => rate.Scenario), Is.EqualTo(new[] { null, Sends }));
        Assert.That(rates[0], Is.EqualTo(Of("full-dtc")));
        Assert.That(rates[1].ToTransactionsOff, Does.StartWith("0.25"));
    }

    private static CellRate? Of(string mode, IReadOnlyList<RoundDocument>? rounds = null) =>
        CellRate.Of(new RecordedRun(InventedRun.Document, rounds ?? InventedRun.Rounds), InventedRun.Cell(mode)).SingleOrDefault();
}
