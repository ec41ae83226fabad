using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>The figures of a published experiment next to those of a run.</summary>
internal sealed class RepeatedExperiment(PublishedExperiment experiment) : BlockKind(experiment.Name)
{
    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        return BlockText.Of([.. ExperimentReport.LinesOf(experiment, run.Run), "", $"Ours is from {sources.LinkTo(run)}, {run.Settings}."]);
    }
}
