using Kit.Runner.Results;

namespace Kit.Runner.Comparing;

/// <summary>The rounds of one build, kept in a folder that <c>report</c> reads like that of any run.</summary>
internal sealed class Side
{
    private static readonly Reading NotMeasured = Reading.Missing("the build's run stored no round");

    private readonly RunFolder folder;
    private readonly List<RoundDocument> rounds = [];
    private readonly BuildRun run;
    private readonly RunSettings sizes;
    private readonly IReadOnlyList<RoundDocument> tried;
    private RunDocument document;

    /// <param name="folder">A new one for this side.</param>
    /// <param name="document">What is known of it before the first round.</param>
    /// <param name="run">Runs its build.</param>
    /// <param name="tried">The rounds that the build was tried with.</param>
    /// <exception cref="KitException">The folder cannot be written, or holds a run.</exception>
    public Side(string folder, RunDocument document, BuildRun run, IReadOnlyList<RoundDocument> tried)
    {
        this.document = document;
        this.run = run;
        this.tried = tried;
        sizes = document.Settings;
        this.folder = RunFolder.Create(folder, document);
    }

    public RecordedRun Recorded => new(document, rounds);

    /// <summary>Runs one round of one cell and saves it.</summary>
    /// <exception cref="KitException">The build does not run any more, or the round cannot be saved.</exception>
    public async Task<RoundDocument> MeasureAsync(CellName cell, int number, CancellationToken cancellationToken)
    {
        var (recorded, _) = await run.RunAsync(
            [
                .. cell.Values.SelectMany(value => new[] { $"--{value.Axis}", value.Value }), "--rounds", "1",
                "--messages", Figures.Plain(sizes.Messages), "--warmup", Figures.Plain(sizes.WarmUp),
                "--seed-rows", Figures.Plain(sizes.SeedRows), "--concurrency", Figures.Plain(sizes.Concurrency),
            ],
            cancellationToken);
        var measured = recorded.Rounds.SingleOrDefault(round => round.Cell == cell) ?? Missing(cell, number, recorded);
        var round = measured with { Round = number };
        folder.Save(round);
        rounds.Add(round);
        return round;
    }

    /// <exception cref="KitException">The documents or reports cannot be written.</exception>
    public void End(RunEnding ending)
    {
        document = document with { Ending = ending, EndedUtc = DateTimeOffset.UtcNow };
        folder.Save(document);
        folder.WriteReports(Recorded);
    }

    // The cell went through its trial, and its probe or its servers refused it now: a round that failed, not the end.
    private RoundDocument Missing(CellName cell, int number, RecordedRun recorded) =>
        RoundDocument.Blank(cell, number, attempt: 1, sizes, tried.Single(round => round.Cell == cell).Clock, NotMeasured) with
        {
            Outcome = RoundOutcome.Error(
                recorded.Document.LeftOut.FirstOrDefault(left => left.Cell == cell)?.Because ?? recorded.Document.Ending.ToString()),
        };
}
