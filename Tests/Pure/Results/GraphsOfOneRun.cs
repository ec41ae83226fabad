using System.Xml.Linq;
using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class GraphsOfOneRun
{
    [TestCase(0.05)]
    [TestCase(0.9)]
    [TestCase(5)]
    [TestCase(8.2)]
    [TestCase(12)]
    [TestCase(60)]
    [TestCase(300.8)]
    public void Longest_round_has_24_to_60_bins(double seconds)
    {
        var round = InventedRun.Round("full-dtc", 1, seconds);
        var scale = GraphScale.Of([round, InventedRun.Round("dtc-off", 1, seconds / 3)], SvgGraphs.MostBins);

        Assert.That(round.Throughput.Series(scale.Bin), Has.Count.InRange(24, SvgGraphs.MostBins));
    }

    [Test]
    public void Highest_bin_of_all_rounds_reaches_the_top()
    {
        RoundDocument[] rounds = [InventedRun.Round("full-dtc", 1, seconds: 4), InventedRun.Round("dtc-off", 1, seconds: 1)];
        var scale = GraphScale.Of(rounds, SvgGraphs.MostBins);

        var highest = rounds.Select(round => scale.BinsOf(round).Max(bin => bin.PerSecond)).ToList();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(highest[1], Is.EqualTo(scale.PerSecond));
            Assert.That(highest[0], Is.LessThan(scale.PerSecond / 2));
            Assert.That(scale.Seconds, Is.EqualTo(4));
        }
    }

    [Test]
    public void Each_shows_its_cell_and_the_ends_of_its_axes_where_a_page_embeds_it()
    {
        using var output = new StringWriter { NewLine = "\n" };
        SvgGraphs.Write(
            new RecordedRun(InventedRun.Document, [InventedRun.Round("full-dtc", 1, seconds: 4), InventedRun.Round("dtc-off", 1, seconds: 1)]), output);
        XNamespace svg = "http://www.w3.org/2000/svg";
        var document = XDocument.Parse(output.ToString());
        var size = document.Descendants(svg + "view").First().Attribute("viewBox")!.Value.Split(' ').Select(int.Parse).ToArray();

        var graphs = document.Root!.Element(svg + "g")!.Elements(svg + "g").ToList();

        Assert.That(graphs, Has.Count.EqualTo(2));
        foreach (var (graph, name) in graphs.Zip(["full-dtc", "dtc-off"]))
        {
            var texts = graph.Elements(svg + "text").ToList();
            Assert.That(
                texts.Select(text => text.Value),
                Has.Some.EqualTo($"bare/postgresql/{name}/ado, round 1").And.Some.EqualTo("4.00 s").And.Some.EndsWith("/s"));
            Assert.That(texts.Select(text => int.Parse(text.Attribute("x")!.Value)), Is.All.InRange(0, size[2]));
            Assert.That(texts.Select(text => int.Parse(text.Attribute("y")!.Value)), Is.All.InRange(0, size[3]));
        }
    }

    [Test]
    public void Short_last_bin_is_joined_to_the_one_before()
    {
        var round = InventedRun.Round("full-dtc", 1, seconds: 4) with { OffsetsMilliseconds = [500, 1_500, 2_000.001] };
        var scale = new GraphScale(TimeSpan.FromSeconds(1), Seconds: 4, PerSecond: 10);

        var last = scale.BinsOf(round)[^1];

        using (Assert.EnterMultipleScope())
        {
            Assert.That(last.Start, Is.EqualTo(1));
            Assert.That(last.Seconds, Is.EqualTo(1.000001).Within(1e-9));
            Assert.That(last.Commits, Is.EqualTo(2));
        }
    }

    [Test]
    public void Blocks_show_stretches_without_commits()
    {
        var round = InventedRun.Round("full-dtc", 1, seconds: 4) with { OffsetsMilliseconds = [100, 200, 2_100, 2_200, 2_300, 3_000] };
        var scale = new GraphScale(TimeSpan.FromSeconds(1), Seconds: 3, PerSecond: 4);

        Assert.That(BlockSparkline.Of(round, scale), Is.EqualTo("▄ █"));
    }

    [Test]
    public void Rounds_without_commits_have_nothing_to_draw()
    {
        var nothing = InventedRun.Round("full-dtc", 1, seconds: 4) with { OffsetsMilliseconds = [] };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(GraphScale.CanDraw(nothing), Is.False);
            Assert.That(GraphScale.Of([nothing], SvgGraphs.MostBins).Seconds, Is.Zero);
        }
    }
}
