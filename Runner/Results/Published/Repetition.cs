using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Published;

/// <summary>What was measured to repeat an experiment.</summary>
/// <param name="Runs">The drains.</param>
/// <param name="Loads">The loads.</param>
public sealed record Repetition(IReadOnlyList<RecordedRun> Runs, IReadOnlyList<LoadDocument> Loads)
{
    /// <summary>Whether nothing was measured.</summary>
    public bool IsEmpty => Runs.Count + Loads.Count == 0;

    /// <summary>What is in the folder of an experiment. A command that was not run, or was stopped before its first result, has left nothing.</summary>
    /// <exception cref="KitException">A folder is damaged, or there is none.</exception>
    public static Repetition In(string folder, PublishedExperiment experiment)
    {
        ArgumentNullException.ThrowIfNull(experiment);
        if (!Directory.Exists(folder))
            throw new KitException($"There is no folder {folder}.", $"Make one: experiment {experiment.Name}") { IsUsage = true };
        var found = Of(experiment.Commands.Select(command => experiment.FolderOf(folder, command)));
        return found.IsEmpty
            ? throw new KitException(
                $"{folder} has no results of {experiment.Name}.",
                $"Name the folder of an experiment that was repeated, or make one: experiment {experiment.Name}")
            : found;
    }

    /// <summary>What is in some folders.</summary>
    public static Repetition Of(IEnumerable<string> folders)
    {
        IReadOnlyList<string> all = [.. folders];
        return new Repetition(
            [.. all.Where(RunFolder.IsIn).Select(folder => RunFolder.Open(folder).Load())],
            [.. all.Select(folder => new LoadFolder(folder)).Where(load => load.Exists).Select(load => load.Load())]);
    }

    /// <summary>The load that repeats a row, the last if there are several; <see langword="null"/>: none does.</summary>
    public LoadResult? Find(PublishedRow row)
    {
        ArgumentNullException.ThrowIfNull(row);
        return Loads.SelectMany(load => load.Results.Select(result => (load.Settings, Result: result)))
            .LastOrDefault(one => one.Result.Users == row.Users && $"{one.Result.Cell}" == row.Cell && one.Settings.Seconds >= row.LeastSeconds).Result;
    }
}
