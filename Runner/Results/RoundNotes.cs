namespace Kit.Runner.Results;

/// <summary>Notes on single rounds for a reader: failures with their reasons, noise, missing measurements.</summary>
internal static class RoundNotes
{
    private const string AllCells = "All cells";

    public static IReadOnlyList<string> Of(RecordedRun run) =>
    [
        .. run.RoundLeftOut is { } leftOut ? [leftOut] : Array.Empty<string>(),
        .. Once(run, [.. run.Cells.SelectMany(result => NotesOn(result).Concat(ClockIn(run, result)).Select(note => (result.Cell, note)))]),
        .. from result in run.Cells
           from round in result.Rounds
           from note in NotesOf(result, round, run.Document.AtLeast)
           select $"{round.Name}: {note}",
        .. AdviceOn([.. run.Cells.SelectMany(result => result.Outliers)]),
    ];

    // A note on several cells is shown once, with all of them.
    private static IEnumerable<string> Once(RecordedRun run, IReadOnlyList<(CellName Cell, string Note)> notes) =>
        notes.GroupBy(each => each.Note).Select(same => same.Count() == run.Cells.Count && same.Skip(1).Any()
            ? $"{AllCells}: {same.Key}"
            : $"{string.Join(", ", same.Select(each => each.Cell))}: {same.Key}");

    private static IEnumerable<string> NotesOn(CellResult result) => [.. TooShort(result), .. SendsOf(result), .. PromotedIn(result), .. NotMeasured(result)];

    private static IEnumerable<string> NotesOf(CellResult result, RoundDocument round, RoundLength? asked)
    {
        if (!round.Outcome.IsValid())
            yield return $"{round.Outcome}, not in the averages: {string.Join("; ", round.Outcome.Reasons)}.";
        if (round.Noise.IsNoisy())
            yield return $"noisy, {LoadOf(round.Noise)}. {StandingOf(result, round)}";
        if (result.Outliers.FirstOrDefault(outlier => ReferenceEquals(outlier.Round, round)) is { } outlier)
            yield return StandingOf(outlier);
        if (asked is not null && result.Counts(round) && round.Throughput.ElapsedSeconds < asked.Seconds)
        {
            yield return $"{Figures.Measured(round.Throughput.ElapsedSeconds)} s long, and {Figures.Measured(asked.Seconds)} s were asked for: " +
                         "the trial drain was slower.";
        }

        if (round.Retries > 0)
            yield return $"handlers were entered {Figures.Count(round.Retries)} times more than there were messages.";
    }

    private static string StandingOf(Outlier outlier) =>
        $"{(outlier.IsSlowStart ? "slow first round" : "outlier")}, {Figures.Measured(outlier.Round.Throughput.AveragePerSecond)} msg/s, " +
        $"{Figures.Share(Math.Abs(outlier.FromMedian))} {(outlier.FromMedian < 0 ? "below" : "above")} the cell's median (modified z-score " +
        $"{Figures.Measured(outlier.Score)}). It counts.";

    /// <summary>Advice on outliers, once, however many there are.</summary>
    private static IEnumerable<string> AdviceOn(IReadOnlyList<Outlier> outliers)
    {
        if (outliers.Any(outlier => outlier.IsSlowStart))
        {
            yield return "Slow first rounds: the machine may still have been busy with what came before. Make more rounds, or first a run that you do not use.";
        }

        if (outliers.Any(outlier => !outlier.IsSlowStart))
        {
            yield return $"Outliers (a score beyond {Figures.Measured(Outlier.Limit)}): look at the graph for a pause, and at the load of other processes. " +
                         "In more rounds (--rounds, --precision) one weighs less. Chance alone makes some: of five rounds, in 20 of 100 cells.";
        }
    }

    /// <summary>The load of others in words.</summary>
    internal static string LoadOf(Noise noise) => string.Join("; ", DisturbancesOf(noise));

    private static IEnumerable<string> DisturbancesOf(Noise noise)
    {
        if (noise.AreProcessorsNoisy())
            yield return ProcessorsOf(noise);
        if (noise.IsDiskNoisy())
        {
            yield return $"a flush took {Figures.Measured(noise.FlushRatio)} times as long as before the first round " +
                         $"(more than {Figures.Measured(Noise.FlushLimit)})";
        }
    }

    private static string ProcessorsOf(Noise noise) =>
        $"other processes took {Figures.Share(noise.OtherCpuShare.Value ?? 0)} of the CPU (more than {Figures.Share(noise.Limit)})" +
        (noise.BusiestProcess is null ? "" : $", {noise.BusiestProcess} the most");

    private static string StandingOf(CellResult result, RoundDocument round)
    {
        var repeated = result.Rounds.Any(other => other.Round == round.Round && other.Attempt != round.Attempt);
        var counting = result.Counting.FirstOrDefault(other => other.Round == round.Round);
        if (counting is null)
            return "No attempt at this round counts.";
        if (!repeated)
            return "It was not repeated, and counts.";
        return ReferenceEquals(counting, round)
            ? "It is the quietest valid attempt at this round, and counts."
            : $"It was repeated: attempt {Figures.Plain(counting.Attempt)} was quieter, and counts.";
    }

    private static IEnumerable<string> TooShort(CellResult result)
    {
        if (result.Counting.Any(round => round.Throughput.MaximumInOneSecond is null))
            yield return "drained in less than a second, so there is no busiest second to show.";
    }

    private static IEnumerable<string> SendsOf(CellResult result)
    {
        if (RecordedRun.SendsInMemoryAre(result.Cell))
            yield return "its sends are not persistent, and those of other cells are, so there is no verdict on its ratios.";
    }

    private static IEnumerable<string> ClockIn(RecordedRun run, CellResult result)
    {
        if (result.Clock is ClockSource.HandlerCompletions && run.Cells.Any(other => other.Clock is ClockSource.CommitTimestamps))
        {
            yield return "timed by handler completions, and other cells by commits: their rates are not compared.";
        }
    }

    private static IEnumerable<string> PromotedIn(CellResult result)
    {
        var promotions = result.Rounds.Select(round => round.Promotions).OfType<int>().ToList();
        if (promotions.Count > 0)
            yield return $"transactions promoted to distributed ones, round by round: {string.Join("; ", promotions.Select(count => Figures.Count(count)))}.";
    }

    private static IEnumerable<string> NotMeasured(CellResult result) =>
        result.Rounds
            .Where(round => round.Outcome.IsValid())
            .SelectMany(round => round.Costs.Named().Append((Name: "load from other processes", Reading: round.Noise.OtherCpuShare)))
            .Where(figure => figure.Reading.Value is null)
            .Select(figure => $"{figure.Name} not measured: {figure.Reading.Because}.")
            .Distinct(StringComparer.Ordinal);
}

/// <summary>One round in one line.</summary>
public static class RoundLine
{
    public static string Of(RoundDocument round) => Of(round.Name, round);

    /// <param name="name">Of the round, for a reader.</param>
    public static string Of(string name, IRoundAttempt round) =>
        $"{name}: {Figures.Measured(round.Throughput.AveragePerSecond)} msg/s, {round.Outcome}"
        + (round.Outcome.IsValid() ? "" : $" ({string.Join("; ", round.Outcome.Reasons)})")
        + (round.Noise.IsDiskNoisy() ? $", noisy: a flush took {Figures.Measured(round.Noise.FlushRatio)} times as long as before the run" : "")
        + (round.Noise.AreProcessorsNoisy() ? $", noisy: other processes took {Figures.Share(round.Noise.OtherCpuShare.Value!.Value)}" : "");
}
