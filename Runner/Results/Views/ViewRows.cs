using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Views;

/// <summary>The rows of a view: every cell that was measured, and every cell with experiments that was not.</summary>
internal sealed class ViewRows
{
    private const string AnotherHandler = "as the experiments do";

    private readonly ViewSources sources;
    private readonly GraphScale scale;
    private readonly IReadOnlyDictionary<string, string> implied;
    private readonly Dictionary<RoundDocument, int> lines;

    public ViewRows(ViewSources sources, GraphScale scale)
    {
        (this.sources, this.scale) = (sources, scale);
        implied = sources.Run?.Document.Implied
            ?? sources.Experiments.Select(source => source.Document.Implied).FirstOrDefault()
            ?? new Dictionary<string, string>();
        lines = (sources.Run?.Rounds ?? []).Index().ToDictionary(
            round => round.Item, round => round.Index + 1, (IEqualityComparer<RoundDocument>)ReferenceEqualityComparer.Instance);
        var measured = sources.Run?.Cells ?? [];
        var subjects = measured.Select(cell => ViewSources.SubjectOf(cell.Cell)).ToHashSet();
        var others = sources.Experiments.SelectMany(source => source.Results.Select(result => result.Cell)).Distinct()
            .Where(cell => !subjects.Contains(cell)).ToList();
        Axes = CellName.AxesOf(measured.Select(cell => cell.Cell).Concat(others));
        ReadingOrder = [.. measured.Select(cell => RowOf(cell.Cell, cell)), .. others.Select(cell => RowOf(cell, measured: null))];
        Sorted =
        [
            .. ReadingOrder.GroupBy(row => (row.Group, row.Loss)).SelectMany(same => Placed([.. same]))
                .OrderBy(row => row.Loss).ThenByDescending(row => row.Speed?.Mean.Value ?? 0),
        ];
    }

    /// <summary>The axes that a cell names.</summary>
    public IReadOnlyList<string> Axes { get; }

    public IReadOnlyList<ViewRow> Sorted { get; }

    private IReadOnlyList<ViewRow> ReadingOrder { get; }

    public IReadOnlyList<string> ValuesOn(string axis) => [.. ReadingOrder.Select(row => row.Cell[axis]).Distinct(StringComparer.Ordinal)];

    // A place is given only to a cell whose interval is apart from those of all others.
    private static IEnumerable<ViewRow> Placed(IReadOnlyList<ViewRow> rows) => rows.Select(row => row with
    {
        Place = rows.Count > 1 && row.Speed is { } mine && rows.All(other => ReferenceEquals(other, row) || AreApart(mine, other.Speed))
            ? 1 + rows.Count(other => other.Speed!.Mean.Value > mine.Mean.Value)
            : null,
    });

    private static bool AreApart(ViewSpeed left, ViewSpeed? right) =>
        right is not null && (left.High.Value < right.Low.Value || right.High.Value < left.Low.Value);

    /// <param name="measured"><see langword="null"/> if the cell was not measured in this folder.</param>
    private ViewRow RowOf(CellName cell, CellResult? measured)
    {
        var subject = measured is null ? cell : ViewSources.SubjectOf(cell);
        var experiments = sources.Of(subject);
        List<FaultResult> made = [.. from experiment in experiments where sources.IsOfThisBuild(experiment.Source) select experiment.Result];
        var loss = made.Exists(IsStorm) ? LossOf.Storms(made.Where(IsStorm)) : Loss.Unproven;
        return new ViewRow
        {
            Id = cell.FileName,
            Subject = subject.FileName,
            Group = cell.Group,
            IsPlain = ShownCells.IsPlain(cell),
            Cell = Axes.ToDictionary(axis => axis, axis => cell.On(axis)
                ?? (measured is null && axis == AxisName.Scenario ? AnotherHandler : implied.GetValueOrDefault(axis, Figures.None))),
            Loss = loss,
            WhyUnproven = loss is Loss.Unproven ? WhyUnproven(experiments) : null,
            Speed = measured is null ? SpeedNamedBy(experiments, cell) : SpeedOf(measured),
            Storms = [.. from experiment in experiments where IsStorm(experiment.Result) select StormOf(experiment.Source, experiment.Result)],
            VoidStorms = made.Count(IsVoidStorm),
            Faults = FaultsIn([.. made.Where(result => result.IsSingleFault && result.Verdict is not FaultVerdict.NoWindow)]),
            Costs = measured is null ? null : CostsOf(measured),
            Rounds = measured is null ? [] : [.. measured.Rounds.Select(round => RoundOf(measured, round))],
        };
    }

    private string WhyUnproven(IReadOnlyList<(FaultSource Source, FaultResult Result)> experiments) =>
        experiments.FirstOrDefault(experiment => IsStorm(experiment.Result)).Source is { } source
            ? $"its storm is of commit {ViewSources.Short(source.Document.Commit)}, and the speed of {ViewSources.Short(sources.Build)}"
            : experiments.FirstOrDefault(experiment => IsVoidStorm(experiment.Result)).Result is { } failed ? $"its storm shows nothing: {failed.Because}"
            : experiments.Count > 0 ? "no storm, only single faults"
            : "no experiment with faults";

    private static bool IsStorm(FaultResult result) => result is { IsStorm: true, IsWeakened: false } && result.Verdict.IsConclusive();

    private static bool IsVoidStorm(FaultResult result) => result is { IsStorm: true, IsWeakened: false } && result.Verdict.ShowsNothing();

    private ViewSpeed? SpeedOf(CellResult cell) => cell.Rate is not { } rate ? null : new ViewSpeed(
        Figure.Of(rate.Mean), Figure.Of(rate.Low), Figure.Of(rate.High), cell.Counting.Count, sources.Run!.Document.Settings.Rounds,
        SummaryTable.ToStrictestOf(sources.Run, cell), From: null);

    /// <summary>The speed that the experiments name, if it is of this build.</summary>
    private ViewSpeed? SpeedNamedBy(IEnumerable<(FaultSource Source, FaultResult Result)> experiments, CellName cell) =>
    (
        from experiment in experiments
        let speeds = experiment.Source.Document.Speeds
        where speeds?.Of(cell) is not null && speeds.IsOfBuild(sources.Build)
        let unknown = new Figure(null, Figures.None)
        select new ViewSpeed(
            Figure.Of(speeds.Of(cell)), unknown, unknown, Rounds: 0, Requested: null, Figures.None, $"{speeds.Folder}, {speeds.Handler}")).FirstOrDefault();

    private ViewCosts? CostsOf(CellResult cell) => cell.Rate is null ? null : new ViewCosts(
        Figure.Of(cell.MeanOf(round => round.Costs.Commits.Value)),
        Figure.Of(cell.MeanOf(round => round.Costs.WalFlushes.Value)),
        Figure.Of(cell.MeanOf(round => round.Costs.WalBytes.Value)),
        Figure.Of(cell.MeanOf(round => round.Costs.TwoPhaseCommits.Value)),
        Figure.Of(cell.MeanOf(round => round.Network?.SqlRoundTrips.Value)),
        CoreTime.Of(cell, sources.Run!.Document.Host.Cores),
        WorkerTime.Of(cell));

    private ViewRound RoundOf(CellResult cell, RoundDocument round) => new(
        round.Round, round.Attempt, round.Outcome.ToString(), cell.Counts(round), round.Noise.IsNoisy(), Figure.Of(round.Throughput.AveragePerSecond),
        new FileLine(sources.Name, RoundFiles.LinesFile, lines[round]))
    {
        Bins = GraphScale.CanDraw(round) ? scale.BinsOf(round) : [],
        Reasons = round.Outcome.Reasons,
    };

    private ViewStorm StormOf(FaultSource source, FaultResult result)
    {
        var (storm, found) = (result.Storm!, GuaranteeTables.NotOnceOf(result));
        return new ViewStorm(
            storm.Kills, storm.Cuts, storm.ServerCrashes, result.Messages, storm.InFlight, GuaranteeTables.MessagesNotOnceOf(result), found,
            found is "0" && storm.UpperBound is { } bound
                ? $"{Figures.ShareAtMost(bound)} of {(storm.MeetingKills is null ? "such kills and cuts" : "such kills that meet a message")}"
                : null,
            Words.Of(result.Verdict), ViewSources.Short(source.Document.Commit), sources.IsOfThisBuild(source), ViewSources.LineOf(source, result));
    }

    private static ViewFaults? FaultsIn(IReadOnlyList<FaultResult> singles) => singles.Count == 0 ? null : new ViewFaults(
        singles.Count(result => result.Verdict is FaultVerdict.Kept),
        singles.Count(result => result is { Verdict: FaultVerdict.Broken, Known: null }),
        singles.Count(result => result is { Verdict: FaultVerdict.Broken, Known: not null }),
        singles.Count(result => result.Verdict.ShowsNothing()));
}
