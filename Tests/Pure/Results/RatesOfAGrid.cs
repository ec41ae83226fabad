using System.Xml.Linq;
using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>A run with several numbers of handlers, several pools, or both.</summary>
public sealed class RatesOfAGrid
{
    private const int Messages = 400;

    private static readonly Dictionary<string, string> Implied = new(StringComparer.Ordinal)
    {
        ["batch"] = "1",
        ["size"] = "id-alone",
        ["handlers"] = "2-handlers",
        ["pool"] = "100-connections",
    };

    [Test]
    public void Rows_are_the_values_in_the_order_of_their_numbers_and_columns_the_modes()
    {
        var table = GridTable.Of(RunOf(
            Round("shared", 400), Round("full-dtc", 200),
            Round("shared", 1000, ("handlers", "20-handlers")), Round("full-dtc", 500, ("handlers", "20-handlers")),
            Round("shared", 250, ("handlers", "1-handler")))).Single();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(table.Axis, Is.EqualTo("handlers"));
            Assert.That(table.Table.Columns.Select(column => column.Header), Is.EqualTo(["handlers", "full-dtc", "shared"]));
            Assert.That(
                table.Table.Rows, Is.EqualTo(new[] { ["1-handler", "–", "250"], ["2-handlers", "200", "400"], new[] { "20-handlers", "500", "1,000" } }));
            Assert.That(table.Table.Columns.Select(column => column.IsFigure), Is.EqualTo([false, true, true]));
        }
    }

    [Test]
    public void Cells_that_differ_in_more_have_rows_of_their_own()
    {
        var tables = GridTable.Of(RunOf(
            Round("shared", 400), Round("shared", 500, ("handlers", "20-handlers")),
            Round("shared", 400, ("pool", "20-connections")), Round("shared", 500, ("handlers", "20-handlers"), ("pool", "20-connections"))));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(tables.Select(table => table.Axis), Is.EqualTo(["handlers", "pool"]));
            Assert.That(tables[0].Table.Columns.Select(column => column.Header), Is.EqualTo(["Other values", "handlers", "shared"]));
            Assert.That(tables[0].Table.Rows, Is.EqualTo(new[]
            {
                ["bare/postgresql/ado", "2-handlers", "400"],
                ["bare/postgresql/ado", "20-handlers", "500"],
                ["bare/postgresql/ado/20-connections", "2-handlers", "400"],
                new[] { "bare/postgresql/ado/20-connections", "20-handlers", "500" },
            }));
            Assert.That(tables[1].Table.Rows.Select(row => row[1]), Is.EqualTo(["20-connections", "100-connections", "20-connections", "100-connections"]));
        }
    }

    /// <summary>In one mode the middle number of handlers was not measured.</summary>
    [Test]
    public void A_chart_has_a_line_for_each_mode_and_a_gap_where_nothing_was_measured()
    {
        var run = RunOf(
            Round("shared", 400), Round("shared", 250, ("handlers", "1-handler")), Round("full-dtc", 100, ("handlers", "1-handler")),
            Round("shared", 800, ("handlers", "20-handlers")), Round("full-dtc", 200, ("handlers", "20-handlers")));
        using var output = new StringWriter { NewLine = "\n" };
        SvgGraphs.Write(run, output);

        XNamespace svg = "http://www.w3.org/2000/svg";
        var document = XDocument.Parse(output.ToString());
        var view = document.Descendants(svg + "view").Single(one => one.Attribute("id")!.Value == "by-handlers");
        var chart = view.ElementsAfterSelf(svg + "g").First();
        var lines = chart.Elements(svg + "path").Where(path => path.Attribute("stroke-dasharray") is not null && path.Attribute("fill") is not null)
            .Select(path => string.Concat(path.Attribute("d")!.Value.Where(char.IsAsciiLetter))).ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(lines, Is.EqualTo(["MM", "MLL"]), "full-dtc has no 2-handlers");
            Assert.That(chart.Elements(svg + "circle").Count(), Is.EqualTo(5));
            Assert.That(
                chart.Elements(svg + "text").Select(text => text.Value),
                Is.SupersetOf(["1-handler", "2-handlers", "20-handlers", "full-dtc", "shared", "800/s"]));
        }
    }

    [Test]
    public void Without_several_values_there_is_none()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(GridTable.Of(RunOf(Round("shared", 400), Round("full-dtc", 200))), Is.Empty);
            Assert.That(GridTable.Of(RunOf(Round("shared", 400), Round("shared", 500, ("batch", "10")))), Is.Empty, "not an axis of a grid");
            Assert.That(GridTable.Of(InventedRun.Recorded), Is.Empty, "from before there were grids");
        }
    }

    [Test]
    public void The_report_has_a_section_for_each_axis()
    {
        using var output = new StringWriter { NewLine = "\n" };

        MarkdownTables.Write(RunOf(Round("shared", 400), Round("shared", 500, ("handlers", "20-handlers"))), "graphs.svg", output);

        Assert.That(
            output.ToString(),
            Does.Contain("\n## By handlers\n\n| handlers | shared |\n| --- | ---: |\n| 2-handlers | 400 |\n| 20-handlers | 500 |\n\nMean msg/s of the rounds"));
    }

    [Test]
    public void The_redo_bound_is_of_the_cells_own_handlers()
    {
        var run = RunOf(Round("shared", 400), Round("shared", 500, ("batch", "10")), Round("shared", 900, ("handlers", "20-handlers")));

        Assert.That(run.Cells.Select(run.RedoBoundOf), Is.EquivalentTo([2, 20, 20]));
    }

    private static RecordedRun RunOf(params IReadOnlyList<RoundDocument> rounds) =>
        new(InventedRun.Document with { Cells = [.. rounds.Select(round => round.Cell).Distinct()], Implied = Implied }, rounds);

    private static RoundDocument Round(string mode, double perSecond, params IEnumerable<(string Axis, string Value)> values) =>
        InventedRun.Round(mode, number: 1, seconds: Messages / perSecond) with { Cell = new CellName(InventedRun.Cell(mode).Values.Concat(values)) };
}
