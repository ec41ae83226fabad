using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>The figures of a published experiment next to those of our runs and loads.</summary>
internal sealed class RepeatedExperiment(PublishedExperiment experiment) : BlockKind(experiment.Name)
{
    public override BlockText Write(BlockSources sources)
    {
        var repetition = Repetition.Of(
            sources.Folders.Select(folder => new RepeatedCommand(experiment.CommandIn(folder.Folder).Name, folder.Run?.Run, folder.Load)));
        // Loads alone have no run to describe.
        var ours = repetition.HasLoads
            ? $"Ours is from {string.Join(", ", sources.Folders.Select(sources.LinkToTables))}."
            : $"Ours is from {sources.LinkTo(sources.Run)}, {sources.Run.Settings}.";
        return BlockText.Of([.. ExperimentReport.LinesOf(experiment, repetition), "", ours]);
    }
}
