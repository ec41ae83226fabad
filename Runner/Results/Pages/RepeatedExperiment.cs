using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>The figures of a published experiment next to those of our runs and loads.</summary>
internal sealed class RepeatedExperiment(PublishedExperiment experiment) : BlockKind(experiment.Name)
{
    public override BlockText Write(BlockSources sources)
    {
        // Loads alone have no run to describe.
        var repetition = new Repetition(
            [.. sources.Folders.Select(folder => folder.Run?.Run).OfType<RecordedRun>()],
            [.. sources.Folders.Select(folder => folder.Load).OfType<Loads.LoadDocument>()]);
        var ours = repetition.Loads.Count == 0
            ? $"Ours is from {sources.LinkTo(sources.Run)}, {sources.Run.Settings}."
            : $"Ours is from {string.Join(", ", sources.Folders.Select(folder => sources.LinkToTables(folder)))}.";
        return BlockText.Of([.. ExperimentReport.LinesOf(experiment, repetition), "", ours]);
    }
}
