using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Published;

/// <summary>The results of an experiment's command.</summary>
/// <param name="Run"><see langword="null"/> if it was no drain.</param>
/// <param name="Load"><see langword="null"/> if it was no load.</param>
public sealed record RepeatedCommand(string Name, RecordedRun? Run, LoadDocument? Load)
{
    internal bool IsEmpty => Run is null && Load is null;

    internal static RepeatedCommand In(string folder, PublishedCommand command)
    {
        var load = new LoadFolder(folder);
        return new RepeatedCommand(command.Name, RunFolder.IsIn(folder) ? RunFolder.Open(folder).Load() : null, load.Exists ? load.LoadDocument() : null);
    }
}

/// <summary>The measurements that repeat an experiment.</summary>
/// <param name="Commands">Commands that have measured something.</param>
public sealed record Repetition(IReadOnlyList<RepeatedCommand> Commands)
{
    /// <summary>True if nothing was measured.</summary>
    public bool IsEmpty => Commands.Count == 0;

    /// <summary>The drains.</summary>
    public IEnumerable<RecordedRun> Runs => Commands.Select(command => command.Run).OfType<RecordedRun>();

    /// <summary>True if some of the results are loads.</summary>
    public bool HasLoads => Commands.Any(command => command.Load is not null);

    /// <summary>The results in the folder of an experiment. A command that was not run, or was stopped before its first result, has left nothing.</summary>
    /// <exception cref="KitException">A folder is damaged, there is none, or it has no results.</exception>
    public static Repetition In(string folder, PublishedExperiment experiment)
    {
        if (!Directory.Exists(folder))
            throw new KitException($"There is no folder {folder}.", $"Make one: experiment {experiment.Name}") { IsUsage = true };
        var found = SoFarIn(folder, experiment);
        return found.IsEmpty
            ? throw new KitException(
                $"{folder} has no results of {experiment.Name}.",
                $"Name the folder of an experiment that was repeated, or make one: experiment {experiment.Name}")
            : found;
    }

    /// <summary>The results of an experiment that was stopped, which may have left nothing.</summary>
    /// <exception cref="KitException">A folder is damaged.</exception>
    public static Repetition SoFarIn(string folder, PublishedExperiment experiment) =>
        Of(experiment.Commands.Select(command => RepeatedCommand.In(experiment.FolderOf(folder, command), command)));

    /// <summary>The results of some commands.</summary>
    public static Repetition Of(IEnumerable<RepeatedCommand> commands) => new([.. commands.Where(command => !command.IsEmpty)]);

    /// <summary>The drain that repeats a table; <see langword="null"/>: none does.</summary>
    public RecordedRun? RunOf(PublishedTable table) => CommandsOf(table).Select(command => command.Run).OfType<RecordedRun>()
        .FirstOrDefault(run => run.Cells.Any(cell => table.Rows.Any(row => row.Cell == $"{cell.Cell}")));

    /// <summary>The load that repeats a row of a table; <see langword="null"/>: none does. One that is not valid, or was stopped, does not.</summary>
    public LoadResult? LoadOf(PublishedTable table, PublishedRow row) => LoadsOf(table, row).FirstOrDefault(Counts);

    /// <summary>A load that was to repeat it and does not; <see langword="null"/>: there is none.</summary>
    public LoadResult? BrokenLoadOf(PublishedTable table, PublishedRow row) => LoadsOf(table, row).FirstOrDefault(result => !Counts(result));

    private static bool Counts(LoadResult result) => result.Outcome.IsValid() && !result.IsStopped;

    private IEnumerable<LoadResult> LoadsOf(PublishedTable table, PublishedRow row)
    {
        return CommandsOf(table).SelectMany(command => command.Load?.Results ?? [])
            .Where(result => result.Users == row.Users && $"{result.Cell}" == row.Cell);
    }

    private IEnumerable<RepeatedCommand> CommandsOf(PublishedTable table) =>
        Commands.Where(command => table.Commands.Contains(command.Name));
}
