namespace Kit.Runner.Results;

/// <summary>
/// The folder of one run: <c>run.json</c>, the rounds in <c>rounds.jsonl</c> and <c>moments.bin</c>, and the reports that are written from them.
/// </summary>
public sealed class RunFolder : Folder<RunDocument>
{
    /// <summary>The run's document; a folder with this file contains a run.</summary>
    public const string RunFile = "run.json";

    private const string CsvFile = "rounds.csv";
    internal const string TablesFile = "tables.md";
    private const string GraphsFile = "graphs.svg";

    private readonly RoundFiles rounds;
    private readonly bool isOwn;

    private RunFolder(string path, bool isOwn = false)
        : base(path, RunFile, TablesFile) => (rounds, this.isOwn) = (new RoundFiles(path), isOwn);

    /// <summary>All its files.</summary>
    public static IReadOnlyList<string> Files { get; } = [RunFile, RoundFiles.LinesFile, RoundFiles.MomentsFile, CsvFile, TablesFile, GraphsFile];

    /// <summary>True if a folder contains a run.</summary>
    public static bool IsIn(string path) => File.Exists(Path.Combine(path, RunFile));

    /// <summary>Creates the folder and writes the run's document, so that an unwritable folder is detected before any work.</summary>
    /// <exception cref="KitException">The folder already contains a run, or cannot be written.</exception>
    public static RunFolder Create(string path, RunDocument document)
    {
        RunName.RequireWithout(path, Files, "run");
        var folder = new RunFolder(path, isOwn: !Directory.Exists(path));
        folder.Save(document);
        return folder;
    }

    /// <exception cref="KitException">There is no run in the folder.</exception>
    public static RunFolder Open(string path) => IsIn(path) ? new RunFolder(path) : throw new KitException(
        File.Exists(path)
            ? $"{path} is a file, and not a folder of results."
            : $"There is no run in {path}: {Path.Combine(path, RunFile)} is missing.",
        "Name a folder created by 'run', for example one under results/.");

    /// <summary>Removes a folder that <see cref="Create"/> made, if it still contains only the run's document.</summary>
    /// <returns>True if it was removed. A folder that existed before, or that contains anything else, is left as it is.</returns>
    /// <exception cref="KitException">It cannot be removed.</exception>
    public bool TryRemove()
    {
        if (!isOwn || Directory.EnumerateFileSystemEntries(Location).Any(entry => Path.GetFileName(entry) != RunFile))
            return false;
        try
        {
            File.Delete(DocumentPath);
            Directory.Delete(Location);
            return true;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new KitException($"Cannot remove {Location}: {failure.Message}", "Remove it; it contains no round.", failure);
        }
    }

    /// <summary>Appends a round, so that it is on disk when this returns.</summary>
    /// <exception cref="KitException">It cannot be appended; the rounds before it are untouched.</exception>
    public void Save(RoundDocument round) => rounds.Append(round);

    /// <summary>One round's first attempt.</summary>
    /// <exception cref="KitException">It is missing, damaged or of another schema.</exception>
    public RoundDocument LoadRound(CellName cell, int round) =>
        rounds.Read().Rounds.FirstOrDefault(each => (each.Cell, each.Round, each.Attempt) == (cell, round, 1)) ?? throw Missing(cell, round);

    /// <exception cref="KitException">A file is missing, damaged or of another schema; the message names it.</exception>
    public RecordedRun Load()
    {
        var run = LoadDocument();
        var (read, leftOut) = rounds.Read();
        RequireAllRounds(run, read);
        return new RecordedRun(run, read) { RoundLeftOut = leftOut };
    }

    /// <summary>Loads it for a process that appends: first removes the remains of a round that was being saved when its process died.</summary>
    /// <exception cref="KitException">A file is missing, damaged or of another schema, or cannot be written; the message names it.</exception>
    public RecordedRun LoadToAppend()
    {
        var run = Load();
        if (run.RoundLeftOut is null)
            return run;

        rounds.Write(run.Rounds);
        return Load();
    }

    /// <summary>Writes <c>rounds.csv</c>, <c>tables.md</c> and <c>graphs.svg</c>.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public void WriteReports(RecordedRun run) => ReportFile.WriteAll(ReportsOf(run), Location);

    /// <summary>The reports of a run.</summary>
    public static IReadOnlyList<ReportFile> ReportsOf(RecordedRun run) =>
    [
        new(CsvFile, output => RoundsCsv.Write(run, output)),
        new(GraphsFile, output => SvgGraphs.Write(run, output)),
        new(TablesFile, output => MarkdownTables.Write(run, GraphsFile, output)),
    ];

    // A completed run has every round of every cell. A stopped one has the finished rounds.
    private void RequireAllRounds(RunDocument run, IReadOnlyList<RoundDocument> found)
    {
        if (run.Ending.State is not RunState.Completed)
            return;

        var first = found.Where(round => round.Attempt == 1).Select(round => (round.Cell, round.Round)).ToHashSet();
        foreach (var cell in run.Cells)
        {
            for (var round = 1; round <= run.Settings.Rounds; round++)
            {
                if (!first.Contains((cell, round)))
                    throw Missing(cell, round);
            }
        }
    }

    private KitException Missing(CellName cell, int round) => new(
        $"{Path.Combine(Location, RoundFiles.LinesFile)} has no line for {RoundDocument.NameOf(cell.ToString(), round, attempt: 1)}, "
        + "which the run measured.",
        "Restore it from a copy, or run again: a table without it would be incomplete.");
}
