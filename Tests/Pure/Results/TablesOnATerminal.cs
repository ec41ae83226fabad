using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results;

public sealed class TablesOnATerminal
{
    [TestCase(10)]
    [TestCase(80)]
    [TestCase(140)]
    public void However_narrow_it_is_break_no_figure_and_no_word(int width)
    {
        using var output = new StringWriter { NewLine = "\n" };

        new GuaranteeReport(InventedExperiments.Document, InventedExperiments.Results).WriteTerminal(output, width);

        TerminalSummary.Write(InventedRun.Recorded, output, width);
        Assert.That(output.ToString(), Does.Contain("1.28/14.5").And.Contain("Two-phase").And.Contain("98.5").And.Contain("p50/p99"));

        // The tables of storms; in the legends between them every line is longer.
        var lines = output.ToString().Split("Single faults")[0].Split('\n').Where(line => line.StartsWith("  ", StringComparison.Ordinal));
        var words = lines.SelectMany(line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries));
        Assert.That(words, Is.SupersetOf(["framework", "transactions-off", "2,028", "1,987", "zombie", "doubt", "most", "sends", "restart", "1,200"]));
        Assert.That(lines, Has.Some.Contains("< 0.300"));
    }
}
