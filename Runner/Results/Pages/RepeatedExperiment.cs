using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>The figures of a published experiment next to those of our runs and loads.</summary>
internal static class RepeatedExperiment
{
    public static BlockText Write(PublishedExperiment experiment, BlockSources sources)
    {
        var repetition = Repetition.Of(
            sources.Folders.Select(folder => new RepeatedCommand(experiment.CommandIn(folder.Folder).Name, folder.Run?.Run, folder.Load)));
        // Loads alone have no run to describe.
        var ours = repetition.HasLoads
            ? string.Join(", ", sources.Folders.Select(sources.LinkToTables))
            : $"{sources.LinkTo(sources.Run)}, {sources.Run.Settings}";
        return new([.. ExperimentReport.BriefOf(experiment, repetition), "", $"Ours is from {ours}."]);
    }
}
