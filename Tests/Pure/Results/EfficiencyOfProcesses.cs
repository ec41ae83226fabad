using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>A run with several processes next to one.</summary>
public sealed class EfficiencyOfProcesses
{
    private const int Messages = 400;

    [Test]
    public void It_is_the_rate_divided_by_so_many_times_that_of_one()
    {
        var table = EfficiencyTable.Of(RunOf(
            Round("shared", 400), Round("full-dtc", 200), Round("shared", 600, "2-processes"), Round("full-dtc", 400, "2-processes"),
            Round("shared", 400, "4-processes")));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(table.Columns.Select(column => column.Header), Is.EqualTo(["processes", "full-dtc", "shared"]));
            Assert.That(table.Rows, Is.EqualTo(new[] { ["2", "1.00 (n < 5)", "0.750 (n < 5)"], new[] { "4", "–", "0.250 (n < 5)" } }));
        }
    }

    [Test]
    public void It_is_compared_round_by_round_so_a_slow_minute_does_not_matter()
    {
        var rounds = Enumerable.Range(1, 5).SelectMany(number => new[] { Round("shared", 400d / number), Round("shared", 600d / number, "2-processes") }
            .Select(round => round with { Round = number }));

        var table = EfficiencyTable.Of(RunOf([.. rounds]));

        Assert.That(table.Rows.Single(), Is.EqualTo(["2", "0.750 (0.750 to 0.750)"]));
    }

    [Test]
    public void Without_one_process_there_is_none() =>
        Assert.That(EfficiencyTable.Of(RunOf(Round("shared", 400, "2-processes"), Round("shared", 500, "4-processes"))).Rows, Is.Empty);

    [Test]
    public void The_report_has_a_section_for_it()
    {
        using var output = new StringWriter { NewLine = "\n" };

        MarkdownTables.Write(RunOf(Round("shared", 400), Round("shared", 600, "2-processes")), "graphs.svg", output);

        Assert.That(
            output.ToString(),
            Does.Contain("\n## Efficiency of several processes\n\n| processes | shared |\n| ---: | ---: |\n")
                .And.Contain("\n| 2 | 0.750 (n \\< 5) |\n\nThe rate of n processes"));
    }

    private static RecordedRun RunOf(params IReadOnlyList<RoundDocument> rounds) =>
        new(InventedRun.Document with { Cells = [.. rounds.Select(round => round.Cell).Distinct()] }, rounds);

    private static RoundDocument Round(string mode, double perSecond, string? processes = null) =>
        InventedRun.Round(mode, number: 1, seconds: Messages / perSecond) with
        {
            Cell = new CellName(InventedRun.Cell(mode).Values.Concat(processes is null ? [] : [("processes", processes)])),
        };
}
