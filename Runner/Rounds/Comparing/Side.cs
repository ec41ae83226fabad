using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds.Comparing;

/// <summary>One build's half of a comparison: its running <c>run</c> command, and the results that it has stored.</summary>
internal sealed class Side(Build build, RunningBuild running) : IAsyncDisposable
{
    private readonly List<RoundDocument> rounds = [];
    private readonly RunFolder folder = RunFolder.Open(running.Folder);
    private RunDocument? document;

    public Build Build => build;

    /// <summary>The document of its run: the cells that it can measure, and the reasons why it leaves others out.</summary>
    public RunDocument Document => document ??= folder.LoadDocument();

    public RecordedRun Recorded => new(Document, rounds);

    /// <summary>Makes the build measure one round of one cell.</summary>
    /// <exception cref="KitException">The build has ended, or has not saved the round.</exception>
    public async Task<RoundDocument> MeasureAsync(CellName cell, int number, CancellationToken cancellationToken)
    {
        await running.MeasureAsync(cell, number, cancellationToken);
        var round = folder.LoadRound(cell, number);
        rounds.Add(round);
        return round;
    }

    /// <summary>Lets the build end.</summary>
    /// <returns>True if every requested cell worked in every round.</returns>
    public Task<bool> EndAsync(CancellationToken cancellationToken) => running.EndAsync(cancellationToken);

    /// <summary>Replaces the build's document and reports with those for one half of a comparison.</summary>
    /// <exception cref="KitException">They cannot be written.</exception>
    public void Save(Func<RunDocument, RunDocument> change)
    {
        document = change(Document);
        folder.Save(document);
        folder.WriteReports(Recorded);
    }

    public ValueTask DisposeAsync() => running.DisposeAsync();
}
