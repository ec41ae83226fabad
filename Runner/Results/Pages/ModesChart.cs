namespace Kit.Runner.Results.Pages;

/// <summary>The speeds of the modes as a picture.</summary>
internal sealed class ModesChart() : BlockKind("modes-chart")
{
    private const string Picture = "docs/modes.svg";

    public override BlockText Write(BlockSources sources)
    {
        var chart = new RateChart(sources.Run, sources.StormsOrNone);
        return BlockText.Of($"<img src=\"{sources.LinkTo(Picture)}\" width=\"{RateChart.Width}\" alt=\"{chart.Words}\">") with
        {
            Pictures = [(Picture, chart.Svg)],
        };
    }
}
